// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVTX ranges on the host, and on the GPU, as Kineto has them (gpu_user_annotation): for each
 * stream from the first to the last of what was launched while the range was open. Readers take the
 * time of a range there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/export/export_ranges.h"
#include "cuda-trace/export/export_timeline.h"
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

/* What a hostile file has beyond these is left out and counted: it may have any number of rows. */
#define MAX_ROWS  (8u << 20)
#define MAX_SPANS (1u << 20)

struct call {
	uint64_t id;
	int64_t global, start;
};

/* A range on a stream. */
struct span {
	size_t range; /* index */
	int64_t device, stream, global, start, end;
};

struct gpu_ranges {
	struct timeline *timeline;
	struct nvtx_ranges ranges;
	struct call *calls;
	struct span *spans;
	size_t call_count, span_count, span_capacity;
	struct key_index index; /* of spans */
	uint64_t left_out;
};

static int read_call(void *context, int columns, sqlite3_value **row)
{
	struct gpu_ranges *all = context;
	struct call call = {
		.global = sqlite3_value_int64(row[0]),
		.start = sqlite3_value_int64(row[1]),
	};

	if (all->call_count == MAX_ROWS) {
		all->left_out++;
		return 0;
	}
	call.id = timeline__flow_id(all->timeline, call.global, sqlite3_value_int64(row[2]));
	if (!array_grow__counted(all->calls, all->call_count))
		return -ENOMEM;
	all->calls[all->call_count++] = call;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static bool same_span(const struct span *a, const struct span *b)
{
	return a->range == b->range && a->device == b->device && a->stream == b->stream;
}

static int add_work(struct gpu_ranges *all, const struct span *work)
{
	uint64_t key = key_index__mix(key_index__mix(work->range, work->device), work->stream);
	ssize_t known = key_index__match(&all->index, key, i, same_span(&all->spans[i], work));

	if (known >= 0) {
		struct span *span = &all->spans[known];

		span->start = span->start < work->start ? span->start : work->start;
		span->end = span->end > work->end ? span->end : work->end;
	} else if (all->span_count == MAX_SPANS) {
		all->left_out++;
	} else {
		if (!array_grow__for_one(all->spans, all->span_capacity, all->span_count) ||
		    !key_index__add(&all->index, key, all->span_count))
			return -ENOMEM;
		all->spans[all->span_count++] = *work;
	}
	return 0;
}

static int read_work(void *context, int columns, sqlite3_value **row)
{
	struct gpu_ranges *all = context;
	int64_t global = sqlite3_value_int64(row[0]);
	struct span work = {
		.global = global,
		.start = sqlite3_value_int64(row[1]),
		.end = sqlite3_value_int64(row[2]),
		.device = sqlite3_value_int64(row[4]),
		.stream = sqlite3_value_int64(row[5]),
	};
	struct call key = {
		.id = timeline__flow_id(all->timeline, global, sqlite3_value_int64(row[3])),
		.start = INT64_MIN};
	size_t low, range;
	int err = 0;

	if (!report_times__are_possible(work.start, work.end))
		return 0;
	/* The outer of two calls, which began first. */
	low = sorted__count_before(all->call_count, i, by_id(&all->calls[i], &key) < 0);
	if (low == all->call_count || all->calls[low].id != key.id)
		return 0;
	range = export_ranges__at(&all->ranges, all->calls[low].global, all->calls[low].start);
	for (int depth = 0; range != NO_RANGE && depth < EXPORT_RANGES_DEPTH && !err; depth++) {
		work.range = range;
		if (all->ranges.list[range].end >= all->calls[low].start)
			err = add_work(all, &work);
		range = all->ranges.list[range].outer;
	}
	return err;
}

static int read_all(struct gpu_ranges *all, const struct report_file *file)
{
	static const char *const tables[] = {
		"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
		"CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
	int err = export_ranges__read(&all->ranges, file, "59, 60");

	if (err || !all->ranges.count)
		return err;
	err = scan__run(file,
			"SELECT globalTid, start, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
			"WHERE correlationId <> 0",
			read_call, all);
	if (all->call_count)
		qsort(all->calls, all->call_count, sizeof(*all->calls), by_id);
	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(tables[0]); i++) {
		char sql[160];

		if (!report_file__has(file, tables[i], NULL))
			continue;
		snprintf(sql, sizeof(sql),
			 "SELECT globalPid, start, end, correlationId, deviceId, streamId FROM %s "
			 "WHERE correlationId <> 0",
			 tables[i]);
		err = scan__run(file, sql, read_work, all);
	}
	return err;
}

int timeline__put_gpu_ranges(struct timeline *timeline)
{
	struct gpu_ranges all = {.timeline = timeline};
	int err = 0;

	if (report_file__has(timeline->file, "NVTX_EVENTS", NULL) &&
	    report_file__has(timeline->file, "CUPTI_ACTIVITY_KIND_RUNTIME", NULL))
		err = read_all(&all, timeline->file);
	for (size_t i = 0; !err && i < all.span_count; i++) {
		const struct span *span = &all.spans[i];

		timeline__put_span(
			timeline, "gpu_user_annotation",
			export_names__string(timeline->names, all.ranges.list[span->range].name),
			timeline__device_pid(timeline, span->global, span->device), span->stream,
			span->start, span->end);
		fputs("}", timeline->out);
	}
	timeline->invalid += all.left_out + all.ranges.left_out;
	export_ranges__free(&all.ranges);
	free(all.calls);
	free(all.spans);
	key_index__free(&all.index);
	return err;
}

/* Category, payload, and the thread that ended it, of those that it has. */
static void put_range_details(struct timeline *timeline, sqlite3_stmt *row)
{
	static const char *const keys[] = {"category", "payload", "end_tid"};
	int count = 0;

	for (int i = 0; i < 3; i++) {
		int type = sqlite3_column_type(row, 5 + i);
		int64_t number = sqlite3_column_int64(row, 5 + i);

		if (type == SQLITE_NULL)
			continue;
		fputs(count++ ? ", " : ", \"args\": {", timeline->out);
		if (type == SQLITE_INTEGER)
			fprintf(timeline->out, "\"%s\": %" PRId64, keys[i],
				i == 2 ? number & 0xffffff : number);
		else
			timeline__put_string(timeline, keys[i],
					     (const char *)sqlite3_column_text(row, 5 + i));
	}
	if (count)
		fputs("}", timeline->out);
}

static void put_range(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t start = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
	int64_t global = sqlite3_column_int64(row, 2);
	const char *text = (const char *)sqlite3_column_text(row, 4);
	char shown[1024];

	if (!report_times__are_possible(start, end)) {
		timeline->invalid++;
		return;
	}
	timeline__put_span(
		timeline, "user_annotation",
		text ? text__show(shown, sizeof(shown), text, 0)
		     : export_names__string(timeline->names, sqlite3_column_int64(row, 3)),
		global >> 24 & 0xffffff, global & 0xffffff, start, end);
	put_range_details(timeline, row);
	fputs("}", timeline->out);
}

int timeline__put_ranges(struct timeline *timeline)
{
	return timeline__put_rows(
		timeline, "NVTX_EVENTS",
		"t.start, t.end, t.globalTid, t.textId, t.text, " RANGE_DETAILS ", t.endGlobalTid",
		RANGE_CATEGORIES "WHERE t.eventType IN (59, 60) AND t.end IS NOT NULL", put_range);
}
