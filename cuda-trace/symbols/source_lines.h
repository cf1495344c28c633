/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source lines of addresses in a file of a traced process, from the file's debug information or
 * that of a file of the same build in /usr/lib/debug. Of code that was inlined the line is known,
 * and not that it was.
 */
#ifndef CUDA_TRACE_SYMBOLS_SOURCE_LINES_H
#define CUDA_TRACE_SYMBOLS_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/symbols/symbols.h"

struct source_lines;

/* Sorts the addresses. NULL = no memory, or there is no line of any of them. */
struct source_lines *source_lines__read(int fd, const struct elf_outline *outline,
					uint64_t *addresses, size_t count);
/* The line, 0 = not known; the path, untrusted, is valid until the free. */
uint32_t source_lines__at(const struct source_lines *lines, uint64_t address, const char **path);
void source_lines__free(struct source_lines *lines);

#endif
