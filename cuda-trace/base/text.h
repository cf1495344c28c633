/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes text of traced programs (names, comm, paths), which is untrusted, safe to print.
 */
#ifndef CUDA_TRACE_BASE_TEXT_H
#define CUDA_TRACE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * For terminals and text files: control characters, invisible direction marks and invalid UTF-8
 * become \xHH; at most `columns` characters (0 = as many as fit), the last of them "…" when cut.
 * Returns out. A size of 4 * columns + 4 holds everything.
 */
const char *text__show(char *out, size_t size, const char *in, size_t columns);

/* Valid UTF-8? A NUL follows the text. */
bool text__is_utf8(const char *in, size_t size);

/* A JSON string with its quotes, complete and valid whatever `in` holds. */
void text__write_json(FILE *file, const char *in);
/* The same as json-c writes it: "/" is escaped, marks beyond ASCII are not. */
void text__write_json_plain(FILE *file, const char *in);

/* ns as "1.234 ms", at most 8 characters; returns out. */
const char *text__ns(char out[16], uint64_t ns);

/* 1234567 → "1,234,567"; returns out. */
const char *text__count(char out[32], uint64_t n);

#endif
