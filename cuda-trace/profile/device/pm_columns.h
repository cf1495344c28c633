/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is sampled of a whole GPU over time: columns with names of ours, each a metric of CUPTI's or
 * another that older and newer chips have for it.
 */
#ifndef CUDA_TRACE_PROFILE_DEVICE_PM_COLUMNS_H
#define CUDA_TRACE_PROFILE_DEVICE_PM_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include "cuda-trace/base/suggest.h"

#define PM_COLUMNS 24

enum pm_unit {
	PM_RATIO, /* of what the hardware can do, 0 to 1; CUPTI says percent */
	PM_BYTES, /* a second */
	PM_OTHER, /* as CUPTI says it */
};

struct pm_column {
	const char *key;   /* of JSON, of labels */
	const char *title; /* of a table: 5 letters at most */
	const char *help;  /* one line */
	enum pm_unit unit;
	const char *metrics; /* separated by commas: the first that a chip has is taken */
};

struct pm_preset {
	const char *name;
	const char *summary;
	const char *columns; /* keys, separated by commas */
};

extern const struct pm_column pm_columns[]; /* ended by a NULL key */
extern const struct pm_preset pm_presets[]; /* ended by a NULL name */

struct pm_choice {
	struct pm_column columns[PM_COLUMNS];
	size_t count;
	char *text; /* what columns for single metrics point into */
};

/*
 * A list of presets, columns and metrics with their rollup; "" = the preset `device`. 0, or -1:
 * `unknown` is the word that is none of them, or one too many.
 */
int pm_choice__parse(struct pm_choice *choice, const char *list, char *unknown, size_t size);
/* What may have been meant by a word that is none of them. */
void pm_choice__nearest(const char *word, struct nearest_words *nearest);
/* It was requested by CUPTI's name for it, and there is no other. */
bool pm_column__is_metric(const struct pm_column *column);
void pm_choice__free(struct pm_choice *choice);
/* The n-th metric of a column into out; NULL = there are no more. */
const char *pm_column__metric(const struct pm_column *column, size_t n, char *out, size_t size);

#endif
