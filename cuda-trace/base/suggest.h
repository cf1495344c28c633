/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For a word that is none of those that are known: which of them were perhaps meant.
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

/* Takes `name` if it is nearer to the first `length` characters of `word` than another one is. */
void suggest__consider(struct nearest_words *nearest, const char *name, const char *word,
		       size_t length);
/* "a, b, c", or "" where none was considered; returns out. */
const char *suggest__list(const struct nearest_words *nearest, char *out, size_t size);
/* The nearest one if it is so near to `word` that a slip of the keyboard explains it, or if one
 * of them begins as the other; else NULL. */
const char *suggest__likely(const struct nearest_words *nearest, const char *word);

#endif
