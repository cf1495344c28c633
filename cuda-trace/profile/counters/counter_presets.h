/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --counters takes: presets, metrics as today's GPUs name them, and the names that the Event
 * and Metric APIs had for them.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_COUNTER_PRESETS_H
#define CUDA_TRACE_PROFILE_COUNTERS_COUNTER_PRESETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct counter_preset {
	const char *name;
	const char *summary;
	const char *metrics; /* separated by commas; "?name" is left out where a GPU lacks it */
};

struct counter_alias {
	const char *old;
	const char *now;  /* metrics, separated by commas; NULL = there is no counterpart today */
	const char *note; /* NULL: the same figure */
};

extern const struct counter_preset counter_presets[]; /* ended by a NULL name */
extern const struct counter_alias counter_aliases[];  /* nvprof_names.c, likewise */

/*
 * A list of presets, metrics and old names → metrics, each once; the caller frees it. Old names are
 * remarked on in `notes`. NULL: *unknown is the word that is none of them, or an old name without a
 * counterpart; or there is no memory.
 */
char *counter_presets__expand(const char *list, FILE *notes, char *unknown, size_t size);
/* An old name that nothing stands for today. */
bool counter_presets__has_no_counterpart(const char *word);

#endif
