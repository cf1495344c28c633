// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trace events, as report --timeline writes them, of all ranks on one clock: a process row for each
 * rank, in order, with its streams. Files are read again, one after the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/collectives/collectives.h"
#include "cuda-trace/report/report_collectives.h"
#include "cuda-trace/merge/merge.h"
#include "cuda-trace/report/report_file.h"

struct numbering {
	uint64_t id; /* of a communicator */
	uint32_t rank;
	bool valid, known;
	uint64_t shift;
};

struct merge_timeline {
	const struct merge *merge;
	FILE *out;
	struct report_file file;
	uint32_t index; /* of the file */
	int64_t base;	/* time 0 of the events */
	sqlite3_stmt *call;
	bool separate;
	struct numbering numbering; /* the latest */
};

static int64_t convert(const struct merge *merge, uint32_t file, int64_t time)
{
	const struct merge_file *of = &merge->files[file];

	if (time < -MERGE_FAR || time > MERGE_FAR)
		time = 0;
	return merge_clocks__convert(merge, of->clock, of->epoch + time);
}

static void begin_event(struct merge_timeline *timeline)
{
	fputs(timeline->separate ? ",\n{" : "\n{", timeline->out);
	timeline->separate = true;
}

static void put_us(struct merge_timeline *timeline, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 : ns;

	fprintf(timeline->out, ", \"%s\": %" PRIu64 ".%03u", key, size / 1000,
		(unsigned int)(size % 1000));
}

static void put_rank_name(struct merge_timeline *timeline, uint32_t rank)
{
	const struct merge_rank *of = &timeline->merge->ranks[rank];
	char name[128];

	begin_event(timeline);
	fprintf(timeline->out,
		"\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %u, \"args\": {\"name\": ",
		rank + 1);
	text__write_json(timeline->out, merge_rank__name(timeline->merge, rank, name));
	fputs("}}", timeline->out);
	begin_event(timeline);
	fprintf(timeline->out,
		"\"name\": \"process_sort_index\", \"ph\": \"M\", \"pid\": %u, \"args\": "
		"{\"sort_index\": %d}}",
		rank + 1, of->rank >= 0 ? of->rank : INT32_MAX);
}

static int rank_of(const struct merge_timeline *timeline, int64_t global)
{
	for (uint32_t i = 0; i < timeline->merge->rank_count; i++)
		if (timeline->merge->ranks[i].file == timeline->index &&
		    timeline->merge->ranks[i].global == (global & ~0xffffffll))
			return i;
	return -1;
}

static bool is_before(const struct merge_arrival *arrival, uint32_t comm, uint64_t number)
{
	return arrival->comm < comm || (arrival->comm == comm && arrival->number < number);
}

/* Their count: it is not compared. */
static uint32_t find_comm(const struct merge *merge, uint64_t id)
{
	uint32_t comm = 0;

	while (comm < merge->comms.count && merge->comms.list[comm].id != id)
		comm++;
	return comm;
}

/* The first arrival of a communicator's collective; the count if there is none. */
static uint32_t find_group(const struct merge *merge, uint64_t id, uint64_t number)
{
	uint32_t comm = find_comm(merge, id), low;

	low = sorted__count_before(merge->arrival_count, i,
				   is_before(&merge->arrivals[i], comm, number));
	if (low < merge->arrival_count &&
	    (merge->arrivals[low].comm != comm || merge->arrivals[low].number != number))
		return merge->arrival_count;
	return low;
}

/* For whom it waited. */
static void put_last(struct merge_timeline *timeline, uint64_t id, uint64_t number, int64_t start)
{
	const struct merge *merge = timeline->merge;
	uint32_t first = find_group(merge, id, number), last = first, end;
	char name[128];

	if (first == merge->arrival_count)
		return;
	end = merge_skew__group(merge, first);
	for (uint32_t i = first; i < end; i++)
		if (merge->arrivals[i].start > merge->arrivals[last].start)
			last = i;
	fprintf(timeline->out, ", \"ranks\": %u, \"last\": ", end - first);
	text__write_json(timeline->out, merge_rank__name(merge, merge->arrivals[last].rank, name));
	put_us(timeline, "waited us", merge->arrivals[last].start - start);
}

/* What turns this rank's numbers on this communicator into those of all; kept, as rows of one rank
 * follow each other. */
static const struct numbering *numbering_of(struct merge_timeline *timeline, uint32_t rank,
					    uint64_t id)
{
	const struct merge *merge = timeline->merge;
	struct numbering *numbering = &timeline->numbering;
	uint32_t comm;

	if (numbering->id == id && numbering->rank == rank && numbering->valid)
		return numbering;
	*numbering = (struct numbering){.id = id, .rank = rank, .valid = true};
	comm = find_comm(merge, id);
	for (uint32_t i = 0; i < merge->member_count; i++) {
		const struct merge_member *member = &merge->members[i];

		if (member->comm != comm || member->rank != rank)
			continue;
		numbering->shift = member->shift;
		numbering->known = member->matched || !merge_numbers__are_own(merge, comm);
	}
	return numbering;
}

static void put_call(struct merge_timeline *timeline, sqlite3_stmt *kernel, uint32_t rank,
		     int64_t start)
{
	sqlite3_stmt *call = timeline->call;

	if (!call)
		return;
	sqlite3_bind_int64(call, 1, sqlite3_column_int64(kernel, 0) & ~0xffffffll);
	sqlite3_bind_int64(call, 2, sqlite3_column_int64(kernel, 4));
	sqlite3_bind_int64(call, 3, sqlite3_column_int64(kernel, 6));
	if (sqlite3_step(call) == SQLITE_ROW) {
		const char *operation = nccl_calls__operation(sqlite3_column_int(call, 2));
		uint64_t id = sqlite3_column_int64(call, 0);
		const struct numbering *numbering;

		fprintf(timeline->out,
			", \"args\": {\"communicator\": \"%016" PRIx64
			"\", \"operation\": \"%s\", \"bytes\": %" PRId64,
			id, operation ? operation : "?", (int64_t)sqlite3_column_int64(call, 3));
		numbering = numbering_of(timeline, rank, id);
		if (sqlite3_column_type(call, 1) == SQLITE_INTEGER && numbering->known) {
			int64_t number = sqlite3_column_int64(call, 1);

			/* Replays have numbers of their own. */
			number = number < 0 ? number : (int64_t)(number + numbering->shift);

			fprintf(timeline->out, ", \"number\": %" PRId64, number);
			put_last(timeline, id, number, start);
		}
		putc('}', timeline->out);
	}
	sqlite3_reset(call);
}

static void put_kernel(struct merge_timeline *timeline, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0);
	int rank = rank_of(timeline, global);
	int64_t start = convert(timeline->merge, timeline->index, sqlite3_column_int64(row, 1));
	int64_t end = convert(timeline->merge, timeline->index, sqlite3_column_int64(row, 2));
	const char *name = (const char *)sqlite3_column_text(row, 5);

	if (rank < 0)
		return;
	begin_event(timeline);
	fprintf(timeline->out, "\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": %d, \"tid\": %" PRId64,
		rank + 1, (int64_t)sqlite3_column_int64(row, 3));
	fputs(", \"name\": ", timeline->out);
	text__write_json(timeline->out, name ? name : "?");
	put_us(timeline, "ts", start - timeline->base);
	put_us(timeline, "dur", end - start);
	if (collectives__is_nccl(name))
		put_call(timeline, row, rank, start);
	putc('}', timeline->out);
}

/* By process and kernel, as report_file's temporary tables. */
static int prepare_calls(struct merge_timeline *timeline)
{
	const char *calls = report_collectives__executed(&timeline->file);
	sqlite3 *db = timeline->file.db;
	char *sql;
	int code;

	timeline->call = NULL;
	if (!calls)
		return 0;
	sql = sqlite3_mprintf("CREATE TEMP TABLE merged_calls AS SELECT globalTid & ~16777215 AS "
			      "process, correlationId AS kernel, coalesce(graphNodeId, 0) AS node, "
			      "communicatorId, number, operation, bytes FROM %s WHERE "
			      "correlationId IS NOT NULL;"
			      "CREATE INDEX temp.merged_index ON merged_calls (process, kernel, "
			      "node)",
			      calls);
	code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return code ? code
		    : sqlite3_prepare_v2(db,
					 "SELECT communicatorId, number, operation, bytes FROM "
					 "temp.merged_calls WHERE process = ? AND kernel = ? AND "
					 "node = ?",
					 -1, &timeline->call, NULL);
}

static int put_file(struct merge_timeline *timeline, uint32_t index)
{
	sqlite3_stmt *row = NULL;
	int err = report_file__open(&timeline->file, timeline->merge->files[index].path), code;

	if (err)
		return err;
	timeline->index = index;
	if (report_file__has(&timeline->file, "CUPTI_ACTIVITY_KIND_KERNEL", NULL)) {
		code = prepare_calls(timeline);
		if (!code)
			code = sqlite3_prepare_v2(
				timeline->file.db,
				"SELECT globalPid, start, end, streamId, correlationId, value, "
				"coalesce(graphNodeId, 0) FROM CUPTI_ACTIVITY_KIND_KERNEL LEFT "
				"JOIN StringIds ON id = "
				"demangledName WHERE end >= start",
				-1, &row, NULL);
		while (!code || code == SQLITE_ROW) {
			code = sqlite3_step(row);
			if (code == SQLITE_ROW)
				put_kernel(timeline, row);
		}
		if (code != SQLITE_DONE)
			err = report_file__complain(&timeline->file);
		sqlite3_finalize(row);
		sqlite3_finalize(timeline->call);
	}
	report_file__close(&timeline->file);
	return err;
}

int merge_timeline__write(const struct merge *merge, FILE *out)
{
	struct merge_timeline timeline = {.merge = merge, .out = out, .base = INT64_MAX};
	int err = 0;

	for (uint32_t i = 0; i < merge->file_count; i++)
		if (merge->files[i].read &&
		    convert(merge, i, merge->files[i].first) < timeline.base)
			timeline.base = convert(merge, i, merge->files[i].first);
	fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", out);
	for (uint32_t i = 0; i < merge->rank_count; i++)
		put_rank_name(&timeline, i);
	for (uint32_t i = 0; i < merge->file_count && !err; i++)
		if (merge->files[i].read)
			err = put_file(&timeline, i);
	fputs("\n]}\n", out);
	return err;
}
