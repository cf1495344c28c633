/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions a compiler inlined at addresses, from a file's .debug_info (DWARF 2 to 5). The
 * file is untrusted: a process without privileges reads it.
 */
#ifndef CUDA_TRACE_SYMBOLS_DEBUG_INLINES_H
#define CUDA_TRACE_SYMBOLS_DEBUG_INLINES_H

#include <stddef.h>
#include <stdint.h>

#define DEBUG_INLINES_DEPTH 64 /* at one address */

struct foreign_output;

/* In the answer: the addresses ascend within a unit, and those of one are together, the innermost
 * function first. The path of the file that calls and the name follow, each with its NUL. */
struct debug_inline {
	uint64_t address;
	uint32_t call_line; /* where it is called; 0 = not known */
	uint32_t path_size, name_size;
	uint32_t unused;
};

/* Why functions are missing. The last entry of an answer has the address UINT64_MAX, these bits in
 * place of the line, and no texts. */
enum debug_inlines_missing {
	DEBUG_INLINES_TOO_LARGE = 1, /* more bytes or entries than are read */
	DEBUG_INLINES_TOO_DEEP = 2,  /* nested more deeply than is followed */
	DEBUG_INLINES_SHARED = 4, /* names are in a file that this one shares with others (dwz) */
	DEBUG_INLINES_SPLIT = 8,  /* entries are in .dwo files */
};

/* The parser, for the process without privileges, and for fuzzing; `argument`: struct
 * wanted_addresses. A file without debug information is no failure. */
int debug_inlines__send(int fd, uint64_t size, const void *argument, struct foreign_output *output);

#endif
