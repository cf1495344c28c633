/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source lines of addresses, from a file's .debug_line (DWARF 2 to 5). The file is untrusted: a
 * process without privileges reads it.
 */
#ifndef CUDA_TRACE_SYMBOLS_DEBUG_LINES_H
#define CUDA_TRACE_SYMBOLS_DEBUG_LINES_H

#include <stddef.h>
#include <stdint.h>

struct foreign_output;

/* In the answer, for each address that has a line; the path with its NUL follows. */
struct debug_line {
	uint64_t address;
	uint32_t line, path_size;
};

/* The parser, for the process without privileges, and for fuzzing; `argument`: struct
 * wanted_addresses. A file without lines is no failure. */
int debug_lines__send(int fd, uint64_t size, const void *argument, struct foreign_output *output);

#endif
