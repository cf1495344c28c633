// SPDX-License-Identifier: BSD-2-Clause
/*
 * The union of overlapping spans by key: how long a GPU was busy and how long its gaps were. The
 * spans must come in order of their start; where they do not, SQLite sorts them on disk, so that
 * memory stays bounded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/report_group.h"

#define MAX_KEYS 4096 /* devices; a file that claims more is shown its first ones */

struct span_sum {
	int64_t key;
	uint64_t spans;
	int64_t first, last, busy;
	uint64_t gaps;
	int64_t longest, longest_start;
};

struct span_sums {
	struct span_sum *list;
	size_t count;
	bool disorder;
};

static struct span_sum *sum_of(struct span_sums *sums, int64_t key, int64_t start)
{
	for (size_t i = 0; i < sums->count; i++)
		if (sums->list[i].key == key)
			return &sums->list[i];
	if (sums->count == MAX_KEYS)
		return NULL;
	sums->list[sums->count] = (struct span_sum){.key = key, .first = start, .last = start};
	return &sums->list[sums->count++];
}

static void add_span(struct span_sums *sums, int64_t key, int64_t start, int64_t end)
{
	struct span_sum *sum = sum_of(sums, key, start);

	if (!sum || end < start)
		return;
	/* A span that begins before all that was merged might fill a gap that is counted. */
	if (start < sum->first)
		sums->disorder = true;
	sum->spans++;
	if (start > sum->last) {
		sum->gaps++;
		if (start - sum->last > sum->longest) {
			sum->longest = start - sum->last;
			sum->longest_start = sum->last;
		}
		sum->busy += end - start;
		sum->last = end;
	} else if (end > sum->last) {
		sum->busy += end - sum->last;
		sum->last = end;
	}
}

static int read_spans(const struct report_file *file, const char *sql, struct span_sums *sums)
{
	int64_t before = INT64_MIN;
	sqlite3_stmt *statement;
	int code;

	sums->count = 0;
	sums->disorder = false;
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	while (!sums->disorder && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t start = sqlite3_column_int64(statement, 1);

		sums->disorder = start < before;
		before = start;
		add_span(sums, sqlite3_column_int64(statement, 0), start,
			 sqlite3_column_int64(statement, 2));
	}
	sqlite3_finalize(statement);
	return sums->disorder || code == SQLITE_DONE ? 0 : report_file__complain(file);
}

static int insert_sums(const struct report_file *file, const char *name,
		       const struct span_sums *sums)
{
	char sql[512];
	sqlite3_stmt *statement;

	snprintf(sql, sizeof(sql),
		 "CREATE TEMP TABLE \"%s\" (key INTEGER, spans INTEGER, first_ns INTEGER, "
		 "last_ns INTEGER, busy_ns INTEGER, gaps INTEGER, longest_gap_ns INTEGER, "
		 "longest_gap_start_ns INTEGER)",
		 name);
	if (sqlite3_exec(file->db, sql, NULL, NULL, NULL))
		return report_file__complain(file);
	snprintf(sql, sizeof(sql), "INSERT INTO temp.\"%s\" VALUES (?,?,?,?,?,?,?,?)", name);
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	for (size_t i = 0; i < sums->count; i++) {
		const struct span_sum *sum = &sums->list[i];
		const int64_t values[] = {sum->key,  sum->spans, sum->first,   sum->last,
					  sum->busy, sum->gaps,	 sum->longest, sum->longest_start};

		for (int c = 0; c < 8; c++)
			sqlite3_bind_int64(statement, c + 1, values[c]);
		sqlite3_step(statement);
		sqlite3_reset(statement);
	}
	return sqlite3_finalize(statement) ? report_file__complain(file) : 0;
}

int spans__make_table(const struct report_file *file, const char *name, const char *sql)
{
	struct span_sums sums = {.list = calloc(MAX_KEYS, sizeof(*sums.list))};
	char *sorted = NULL;
	int err = -ENOMEM;

	if (!sums.list)
		return -ENOMEM;
	err = read_spans(file, sql, &sums);
	if (!err && sums.disorder) {
		err = asprintf(&sorted, "SELECT * FROM (%s) ORDER BY 2", sql) < 0 ? -ENOMEM : 0;
		if (!err)
			err = read_spans(file, sorted, &sums);
	}
	if (!err)
		err = insert_sums(file, name, &sums);
	free(sorted);
	free(sums.list);
	return err;
}
