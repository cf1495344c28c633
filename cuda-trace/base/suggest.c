// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names are copied: some come from a library that may make others of them at its next call.
 */
#include "cuda-trace/base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How far two words are apart: single letters that are put in, left out or changed. */
static unsigned int distance_of(const char *a, const char *b)
{
	unsigned int row[NEAREST_CHARS], length = strlen(b);

	for (unsigned int j = 0; j <= length; j++)
		row[j] = j;
	for (unsigned int i = 1; *a; a++, i++) {
		unsigned int corner = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= length; j++) {
			unsigned int above = row[j], least = corner + (*a != b[j - 1]);

			if (above + 1 < least)
				least = above + 1;
			if (row[j - 1] + 1 < least)
				least = row[j - 1] + 1;
			row[j] = least;
			corner = above;
		}
	}
	return row[length];
}

void suggest__consider(struct nearest_words *nearest, const char *name, const char *word,
		       size_t length)
{
	char cut[256];
	unsigned int distance;
	int at = NEAREST_WORDS;

	if (!*name || strlen(name) >= NEAREST_CHARS)
		return;
	snprintf(cut, sizeof(cut), "%.*s", (int)length, word);
	distance = distance_of(cut, name);
	while (at && (!*nearest->names[at - 1] || nearest->distances[at - 1] > distance))
		at--;
	if (at == NEAREST_WORDS)
		return;
	for (int i = NEAREST_WORDS - 1; i > at; i--) {
		memcpy(nearest->names[i], nearest->names[i - 1], NEAREST_CHARS);
		nearest->distances[i] = nearest->distances[i - 1];
	}
	snprintf(nearest->names[at], NEAREST_CHARS, "%s", name);
	nearest->distances[at] = distance;
}

const char *suggest__list(const struct nearest_words *nearest, char *out, size_t size)
{
	size_t used = 0;

	*out = 0;
	for (int i = 0; i < NEAREST_WORDS && *nearest->names[i] && used < size; i++)
		used += snprintf(out + used, size - used, "%s%s", i ? ", " : "", nearest->names[i]);
	return out;
}

static bool is_start(const char *start, const char *of)
{
	size_t length = strlen(start);

	return length >= 3 && !strncmp(start, of, length);
}

const char *suggest__likely(const struct nearest_words *nearest, const char *word)
{
	if (*nearest->names[0] && nearest->distances[0] <= 1 + strlen(word) / 4 &&
	    nearest->distances[0] < strlen(word))
		return nearest->names[0];
	for (int i = 0; i < NEAREST_WORDS && *nearest->names[i]; i++)
		if (is_start(word, nearest->names[i]) || is_start(nearest->names[i], word))
			return nearest->names[i];
	return NULL;
}
