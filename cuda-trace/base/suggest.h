/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suggests known words for an unknown one.
 */
#ifndef CUDA_TRACE_BASE_SUGGEST_H
#define CUDA_TRACE_BASE_SUGGEST_H

#include <stddef.h>

#define NEAREST_WORDS 3
#define NEAREST_CHARS 160

struct nearest_words {
	char names[NEAREST_WORDS][NEAREST_CHARS]; /* the nearest first; "" = no more */
	unsigned int distances[NEAREST_WORDS];
};

/* Keeps `name` if it is more similar to the first `length` characters of `word` than those kept. */
void suggest__consider(struct nearest_words *nearest, const char *name, const char *word,
		       size_t length);
/* "a, b, c", or "" if none was considered; returns out. */
const char *suggest__list(const struct nearest_words *nearest, char *out, size_t size);
/* The most similar one if the difference may be a typing error, or if one is the beginning of the
 * other; otherwise NULL. */
const char *suggest__likely(const struct nearest_words *nearest, const char *word);

#endif
