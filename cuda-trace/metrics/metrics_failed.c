// SPDX-License-Identifier: BSD-2-Clause
/*
 * One probe has the calls that copy, set and prefetch: the name says which it was. A call whose
 * name is not known counts as a copy, as most of them are. Called under the exporter's lock.
 */
#include "cuda-trace/metrics/metrics_failed.h"

#include <stdio.h>
#include <string.h>
#include "cuda-trace/metrics/metrics_exporter.h"

/* The first part that a name contains. The letters of a copy from an array or a symbol name its
 * direction as well: A is on the device. */
static const struct {
	const char *part;
	enum sums_direction direction;
} directions[] = {
	{"HtoD", SUMS_H2D}, {"HtoA", SUMS_H2D}, {"DtoH", SUMS_D2H},
	{"AtoH", SUMS_D2H}, {"DtoD", SUMS_D2D}, {"DtoA", SUMS_D2D},
	{"AtoD", SUMS_D2D}, {"AtoA", SUMS_D2D}, {"Peer", SUMS_P2P},
};

void failed_calls__add(struct failed_calls *failed, const char *name, uint64_t count)
{
	if (!name)
		name = "";
	if (strstr(name, "Memset")) {
		failed->sets += count;
		return;
	}
	if (strstr(name, "MemPrefetch") || strstr(name, "MemDiscard") ||
	    strstr(name, "MemBatchDecompress")) {
		failed->prefetches += count;
		return;
	}
	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
		if (strstr(name, directions[i].part)) {
			failed->copies[directions[i].direction] += count;
			return;
		}
	failed->copies[SUMS_OTHER] += count;
}

/* A zero is shown of those that copied so. */
static void write_copies(void *context, struct series *series)
{
	char labels[1400];

	for (int i = 0; i < SUMS_DIRECTION_COUNT; i++) {
		if (!series->sums.copies[i].copies && !series->failed.copies[i])
			continue;
		snprintf(labels, sizeof(labels), "%s,direction=\"%s\"", series->text,
			 i == SUMS_OTHER ? "unknown" : sums__direction_label(i));
		exposition__count(context, labels, series->failed.copies[i], series->created);
	}
}

static void write_sets(void *context, struct series *series)
{
	if (series->sums.memsets || series->failed.sets)
		exposition__count(context, series->text, series->failed.sets, series->created);
}

static void write_prefetches(void *context, struct series *series)
{
	if (series->failed.prefetches)
		exposition__count(context, series->text, series->failed.prefetches,
				  series->created);
}

void failed_calls__write(struct exposition *exposition, struct exporter_view *view)
{
	static const struct {
		struct metric metric;
		void (*write)(void *context, struct series *series);
	} families[] = {
		{{METRIC_COUNTER, "cuda_memcpy_errors", "",
		  "Copy calls that failed, by the direction in the call's name."},
		 write_copies},
		{{METRIC_COUNTER, "cuda_memset_errors", "", "Calls that set memory and failed."},
		 write_sets},
		{{METRIC_COUNTER, "cuda_memory_prefetch_errors", "",
		  "Calls that prefetch, discard or decompress memory and failed."},
		 write_prefetches},
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		exposition__family(exposition, &families[i].metric);
		series_table__each(view->series, families[i].write, exposition);
	}
}
