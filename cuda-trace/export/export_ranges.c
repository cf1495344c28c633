// SPDX-License-Identifier: BSD-2-Clause
/* Sorted once; each range knows the one around it, so that looking outwards takes as many steps as
 * ranges are nested. */
#include "cuda-trace/export/export_ranges.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

/* What a hostile file has beyond these is left out and counted: it may have any number of rows. */
#define MAX_ROWS (8u << 20)

static int read_range(void *context, int columns, sqlite3_value **row)
{
	struct nvtx_ranges *all = context;
	struct nvtx_range range = {
		.global = sqlite3_value_int64(row[0]),
		.start = sqlite3_value_int64(row[1]),
		.end = sqlite3_value_int64(row[2]),
		.name = sqlite3_value_int64(row[3]),
	};

	if (!report_times__are_possible(range.start, range.end))
		return 0;
	if (all->count == MAX_ROWS) {
		all->left_out++;
		return 0;
	}
	if (!array_grow__counted(all->list, all->count))
		return -ENOMEM;
	all->list[all->count++] = range;
	return 0;
}

static int by_thread(const void *a, const void *b)
{
	const struct nvtx_range *x = a, *y = b;

	if (x->global != y->global)
		return x->global < y->global ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static void link_ranges(struct nvtx_ranges *all)
{
	if (all->count)
		qsort(all->list, all->count, sizeof(*all->list), by_thread);
	for (size_t i = 0; i < all->count; i++) {
		struct nvtx_range *range = &all->list[i];
		size_t outer = i && all->list[i - 1].global == range->global ? i - 1 : NO_RANGE;

		for (int depth = 0; outer != NO_RANGE && all->list[outer].end < range->start;
		     depth++)
			outer = depth == EXPORT_RANGES_DEPTH ? NO_RANGE : all->list[outer].outer;
		range->outer = outer;
	}
}

int export_ranges__read(struct nvtx_ranges *ranges, const struct report_file *file,
			const char *types)
{
	char sql[160];
	int err;

	memset(ranges, 0, sizeof(*ranges));
	snprintf(sql, sizeof(sql),
		 "SELECT globalTid, start, end, textId FROM NVTX_EVENTS WHERE eventType IN (%s) "
		 "AND end IS NOT NULL",
		 types);
	err = scan__run(file, sql, read_range, ranges);
	if (!err)
		link_ranges(ranges);
	return err;
}

static bool has_begun(const struct nvtx_range *range, int64_t global, int64_t time)
{
	return range->global < global || (range->global == global && range->start <= time);
}

size_t export_ranges__at(const struct nvtx_ranges *ranges, int64_t global, int64_t time)
{
	size_t low =
		sorted__count_before(ranges->count, i, has_begun(&ranges->list[i], global, time));

	return low && ranges->list[low - 1].global == global ? low - 1 : NO_RANGE;
}

void export_ranges__free(struct nvtx_ranges *ranges)
{
	free(ranges->list);
}
