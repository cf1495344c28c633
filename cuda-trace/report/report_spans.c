// SPDX-License-Identifier: BSD-2-Clause
/*
 * The union of overlapping spans by GPU: how long it was busy and how long its gaps were. Each
 * table is read by a thread of its own and comes nearly in order of start; what is out of order is
 * put right among the last stretches, which are kept apart for that. Where it is further out of
 * order SQLite sorts everything on disk first, so that memory stays bounded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/report/report_gpus.h"
#include "cuda-trace/report/report_group.h"
#include "cuda-trace/report/report_reader.h"
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

#define MAX_KEYS   (2 * REPORT_MAX_GPUS) /* of each GPU: its work; its copies alone */
#define STRETCHES  1024			 /* kept apart, of each key */
#define STATEMENTS 8

struct stretch {
	int64_t start, end;
};

struct span_sum {
	int64_t key;
	uint64_t spans;
	int64_t first, last, busy; /* `last`: what ends before is summed up */
	bool summed;		   /* something is */
	uint64_t gaps;
	int64_t longest, longest_start;
	struct stretch *recent; /* in order, not touching each other */
	int count;
};

struct span_sums {
	struct span_sum *list;
	size_t count;
	bool disorder;
	struct report_gpus *gpus;
};

static struct span_sum *sum_of(struct span_sums *sums, int64_t key)
{
	struct span_sum *sum;

	for (size_t i = 0; i < sums->count; i++)
		if (sums->list[i].key == key)
			return &sums->list[i];
	if (sums->count == MAX_KEYS)
		return NULL;
	sum = &sums->list[sums->count];
	*sum = (struct span_sum){.key = key, .recent = calloc(STRETCHES, sizeof(*sum->recent))};
	sums->count += !!sum->recent;
	return sum->recent ? sum : NULL;
}

/* The first `n` stretches are final. */
static void sum_up(struct span_sum *sum, int n)
{
	for (int i = 0; i < n; i++) {
		const struct stretch *stretch = &sum->recent[i];

		if (!sum->summed)
			sum->first = stretch->start;
		else
			sum->gaps++;
		if (sum->summed && stretch->start - sum->last > sum->longest) {
			sum->longest = stretch->start - sum->last;
			sum->longest_start = sum->last;
		}
		sum->busy += stretch->end - stretch->start;
		sum->last = stretch->end;
		sum->summed = true;
	}
	sum->count -= n;
	memmove(sum->recent, sum->recent + n, sum->count * sizeof(*sum->recent));
}

/* Joins the span with every stretch that it meets. */
static void add_stretch(struct span_sum *sum, int64_t start, int64_t end)
{
	int to = sum->count, from;

	while (to && sum->recent[to - 1].start > end)
		to--;
	for (from = to; from && sum->recent[from - 1].end >= start; from--) {
		if (sum->recent[from - 1].start < start)
			start = sum->recent[from - 1].start;
		if (sum->recent[from - 1].end > end)
			end = sum->recent[from - 1].end;
	}
	memmove(sum->recent + from + 1, sum->recent + to, (sum->count - to) * sizeof(*sum->recent));
	sum->recent[from] = (struct stretch){start, end};
	sum->count += 1 - (to - from);
	if (sum->count == STRETCHES)
		sum_up(sum, STRETCHES / 2);
}

static void add_span(struct span_sums *sums, int64_t key, int64_t start, int64_t end)
{
	struct span_sum *sum = report_times__are_possible(start, end) ? sum_of(sums, key) : NULL;

	if (!sum)
		return;
	sum->spans++;
	/* A span that begins before what was summed up might fill a gap that is counted. */
	if (sum->summed && start <= sum->last)
		sums->disorder = true;
	else
		add_stretch(sum, start, end);
}

/* globalPid, start, end, device, copy or not. */
static void add_row(struct span_sums *sums, int64_t global, int64_t start, int64_t end,
		    int64_t device, bool copy)
{
	int gpu = report_gpus__find(sums->gpus, global, device);

	if (gpu < 0)
		return;
	add_span(sums, 2 * gpu, start, end);
	if (copy)
		add_span(sums, 2 * gpu + 1, start, end);
}

static void forget_sums(struct span_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		free(sums->list[i].recent);
	sums->count = 0;
	sums->disorder = false;
}

static void finish(struct span_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		sum_up(&sums->list[i], sums->list[i].count);
}

static void merge(struct reader **readers, int count, struct span_sums *sums)
{
	const int64_t *rows[STATEMENTS];

	for (int i = 0; i < count; i++)
		rows[i] = reader__next(readers[i]);
	while (!sums->disorder) {
		int next = -1;

		for (int i = 0; i < count; i++)
			if (rows[i] && (next < 0 || rows[i][1] < rows[next][1]))
				next = i;
		if (next < 0)
			break;
		add_row(sums, rows[next][0], rows[next][1], rows[next][2], rows[next][3],
			rows[next][4]);
		rows[next] = reader__next(readers[next]);
	}
}

/* What other handles cannot read and the file's own can is an empty table that stands for one
 * that is missing. */
static int skip(const struct report_file *file, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	sqlite3_finalize(statement);
	return 0;
}

/* `sql` is cut at each UNION ALL. */
static int read_spans(const struct report_file *file, const char *sql, struct span_sums *sums)
{
	char *text = strdup(sql), *at = text;
	struct reader *readers[STATEMENTS] = {0};
	int count = 0, err = text ? 0 : -ENOMEM;

	while (!err && at && count < STATEMENTS) {
		char *next = strstr(at, "UNION ALL");

		if (next)
			*next = '\0';
		err = reader__open(&readers[count], file, at);
		count += !err;
		if (err == -ENOENT)
			err = skip(file, at);
		at = next ? next + strlen("UNION ALL") : NULL;
	}
	if (!err)
		merge(readers, count, sums);
	for (int i = 0; i < count; i++) {
		int failed = reader__close(readers[i]);

		err = err ? err : failed;
	}
	free(text);
	return err;
}

static int add_span_row(void *context, int columns, sqlite3_value **values)
{
	add_row(context, sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1]),
		sqlite3_value_int64(values[2]), sqlite3_value_int64(values[3]),
		sqlite3_value_int64(values[4]));
	return 0;
}

static int read_sorted(const struct report_file *file, const char *sql, struct span_sums *sums)
{
	char *sorted = NULL;
	int err = -ENOMEM;

	forget_sums(sums);
	if (asprintf(&sorted, "SELECT * FROM (%s) ORDER BY 2", sql) >= 0)
		err = scan__run(file, sorted, add_span_row, sums);
	finish(sums);
	free(sorted);
	return err;
}

static void bind_sum(sqlite3_stmt *statement, const struct span_sums *sums,
		     const struct span_sum *sum, int64_t window)
{
	const struct report_gpu *gpu = report_gpus__get(sums->gpus, sum->key / 2);
	int64_t values[] = {gpu->device, sum->spans,   sum->busy,	   0,
			    sum->gaps,	 sum->longest, sum->longest_start, window};

	for (size_t i = 0; i < sums->count; i++)
		if (sums->list[i].key == sum->key + 1)
			values[3] = sums->list[i].busy;
	for (int c = 0; c < 8; c++)
		sqlite3_bind_int64(statement, c + 1, values[c]);
	if (*gpu->uuid)
		sqlite3_bind_text(statement, 9, gpu->uuid, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(statement, 9);
}

static int insert_sums(const struct report_file *file, const char *name,
		       const struct span_sums *sums)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	char sql[512];
	sqlite3_stmt *statement;
	int err;

	snprintf(sql, sizeof(sql),
		 "CREATE TEMP TABLE \"%s\" (device INTEGER, spans INTEGER, busy_ns INTEGER, "
		 "copy_ns INTEGER, gaps INTEGER, longest_gap_ns INTEGER, longest_gap_start_ns "
		 "INTEGER, window_ns INTEGER, uuid TEXT)",
		 name);
	if (sqlite3_exec(file->db, sql, NULL, NULL, NULL))
		return report_file__complain(file);
	for (size_t i = 0; i < sums->count; i++) {
		first = sums->list[i].first < first ? sums->list[i].first : first;
		last = sums->list[i].last > last ? sums->list[i].last : last;
	}
	err = sums->count ? report_gpus__widen(file, &first, &last) : 0;
	if (err)
		return err;
	snprintf(sql, sizeof(sql), "INSERT INTO temp.\"%s\" VALUES (?,?,?,?,?,?,?,?,?)", name);
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	for (size_t i = 0; i < sums->count; i++) {
		if (sums->list[i].key % 2)
			continue;
		bind_sum(statement, sums, &sums->list[i], last - first);
		sqlite3_step(statement);
		sqlite3_reset(statement);
	}
	return sqlite3_finalize(statement) ? report_file__complain(file) : 0;
}

int spans__make_table(const struct report_file *file, const char *name, const char *sql)
{
	struct span_sums sums = {.list = calloc(MAX_KEYS, sizeof(*sums.list)),
				 .gpus = report_gpus__read(file)};
	int err = sums.list && sums.gpus ? 0 : -ENOMEM;

	if (!err)
		err = read_spans(file, sql, &sums);
	if (!err && sums.disorder)
		err = read_sorted(file, sql, &sums);
	else
		finish(&sums);
	if (!err)
		err = insert_sums(file, name, &sums);
	forget_sums(&sums);
	free(sums.list);
	report_gpus__free(sums.gpus);
	return err;
}
