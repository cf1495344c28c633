/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source lines of addresses in a file of a traced process, from the debug information in it. Of
 * code that was inlined it is the line there: see inlined_calls.h.
 */
#ifndef CUDA_TRACE_SYMBOLS_SOURCE_LINES_H
#define CUDA_TRACE_SYMBOLS_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct source_lines;

/* The addresses ascend. NULL = no memory, or there is no line of any of them. */
struct source_lines *source_lines__read(int fd, const uint64_t *addresses, size_t count);
/* The line, 0 = not known; the path, untrusted, is valid until the free. */
uint32_t source_lines__at(const struct source_lines *lines, uint64_t address, const char **path);
void source_lines__free(struct source_lines *lines);

#endif
