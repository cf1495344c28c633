// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/merge/step_ranges.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"

#define LONGEST_NAME 4096 /* bytes; a longer one is no step's */

struct range_scan {
	const char *pattern;
	uint32_t most, most_processes;
	struct step_processes *processes;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "ProfilerStep#12" has 12, as has "step 12 (warm-up)"; -1 = none, or too large a one. */
static int64_t number_in(const char *name)
{
	const char *end = name + strlen(name), *begin;
	int64_t number = 0;

	while (end > name && !is_digit(end[-1]))
		end--;
	for (begin = end; begin > name && is_digit(begin[-1]);)
		begin--;
	if (begin == end)
		return -1;
	for (; begin < end; begin++) {
		number = number * 10 + (*begin - '0');
		if (number >= STEP_NUMBER_LIMIT)
			return -1;
	}
	return number;
}

/* NULL: no memory, or too many. */
static struct step_ranges *find(struct range_scan *scan, int64_t global)
{
	struct step_processes *processes = scan->processes;

	for (uint32_t i = processes->count; i-- > 0;)
		if (processes->list[i].global == global)
			return &processes->list[i];
	if (processes->count == scan->most_processes ||
	    !array_grow__for_one(processes->list, processes->capacity, processes->count))
		return NULL;
	processes->list[processes->count] = (struct step_ranges){.global = global};
	return &processes->list[processes->count++];
}

/* Of ranges within each other, or of several threads, the first one counts. */
static void add_range(struct range_scan *scan, sqlite3_stmt *row)
{
	int64_t start = sqlite3_column_int64(row, 1), end = sqlite3_column_int64(row, 2);
	const char *name = (const char *)sqlite3_column_text(row, 3);
	struct step_ranges *ranges;

	if (!name || sqlite3_column_bytes(row, 3) > LONGEST_NAME || start < -STEP_RANGES_FAR ||
	    end > STEP_RANGES_FAR || end < start || fnmatch(scan->pattern, name, 0))
		return;
	ranges = find(scan, sqlite3_column_int64(row, 0));
	if (ranges && ranges->count && start < ranges->list[ranges->count - 1].end)
		return;
	if (!ranges || ranges->count == scan->most ||
	    !array_grow__for_one(ranges->list, ranges->capacity, ranges->count)) {
		scan->processes->left_out++;
		return;
	}
	ranges->list[ranges->count++] = (struct step_range){start, end, number_in(name)};
}

int step_ranges__read(const struct report_file *file, const char *pattern, uint32_t most,
		      uint32_t most_processes, struct step_processes *processes)
{
	struct range_scan scan = {pattern, most, most_processes, processes};
	sqlite3_stmt *row = NULL;
	int code;

	if (!report_file__has(file, "NVTX_EVENTS", NULL))
		return 0;
	code = sqlite3_prepare_v2(
		file->db,
		"SELECT globalTid & ~16777215, start, end, coalesce(text, value) FROM NVTX_EVENTS "
		"LEFT JOIN StringIds ON id = textId WHERE end IS NOT NULL AND eventType IN "
		"(59, 60) ORDER BY start",
		-1, &row, NULL);
	while (!code || code == SQLITE_ROW) {
		code = sqlite3_step(row);
		if (code == SQLITE_ROW)
			add_range(&scan, row);
	}
	sqlite3_finalize(row);
	return code == SQLITE_DONE ? 0 : report_file__complain(file);
}

int64_t step_ranges__at(const struct step_ranges *ranges, int64_t time)
{
	uint32_t low = sorted__count_before(ranges->count, i, ranges->list[i].start <= time);

	if (low == ranges->count && low && time >= ranges->list[low - 1].end)
		return -1;
	return (int64_t)low - 1;
}

void step_ranges__free(struct step_processes *processes)
{
	for (uint32_t i = 0; i < processes->count; i++)
		free(processes->list[i].list);
	free(processes->list);
	*processes = (struct step_processes){};
}
