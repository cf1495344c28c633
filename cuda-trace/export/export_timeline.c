// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trace events as PyTorch's Kineto writes them (libkineto/src/output_json.cpp): rows of the GPU
 * have the device as pid and the stream as tid, calls the process and the thread, and a flow leads
 * from call to GPU work. Kineto's files are of one process. Here the first process keeps that
 * scheme, and the devices and correlation ids of further ones are moved up, so that they stay
 * apart.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/export/export.h"
#include "cuda-trace/profile/counters/occupancy.h"
#include "cuda-trace/export/export_timeline.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/report/report_thread_states.h"
#include "cuda-trace/report/report_times.h"

#define QUARTER_NS	7889238000000000ll /* Kineto rounds the base down to this */
#define PROCESS_DEVICES 1000000ll	   /* devices of process n begin at n times this */
#define GPU_ROWS_LAST	5000000ll

void timeline__begin_event(struct timeline *timeline)
{
	fputs(timeline->separate ? ",\n{" : "\n{", timeline->out);
	timeline->separate = true;
}

void timeline__put_us(struct timeline *timeline, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 : ns;

	fprintf(timeline->out, "\"%s\": %" PRIu64 ".%03u", key, size / 1000,
		(unsigned int)(size % 1000));
}

void timeline__put_string(struct timeline *timeline, const char *key, const char *text)
{
	fprintf(timeline->out, "\"%s\": ", key);
	text__write_json(timeline->out, text);
}

int64_t timeline__device_pid(struct timeline *timeline, int64_t global, int64_t device)
{
	/* Waits of a process without the agent: with its threads. */
	if (device == UINT32_MAX)
		return global >> 24 & 0xffffff;
	return report_times__wrap((int64_t)export_names__process_index(timeline->names, global) *
					  PROCESS_DEVICES,
				  device);
}

/* Unique in the file; of the first process, the correlation id itself. */
int64_t timeline__flow_id(struct timeline *timeline, int64_t global, int64_t correlation)
{
	return report_times__wrap(
		correlation, (int64_t)export_names__process_index(timeline->names, global) << 32);
}

void timeline__put_span(struct timeline *timeline, const char *category, const char *name,
			int64_t pid, int64_t tid, int64_t start, int64_t end)
{
	FILE *out = timeline->out;

	timeline__begin_event(timeline);
	fputs("\"ph\": \"X\", ", out);
	timeline__put_string(timeline, "cat", category);
	fputs(", ", out);
	timeline__put_string(timeline, "name", name);
	fprintf(out, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", ", pid, tid);
	timeline__put_us(timeline, "ts", report_times__sum(timeline->epoch, start));
	fputs(", ", out);
	timeline__put_us(timeline, "dur", end - start);
}

void timeline__put_flow(struct timeline *timeline, bool begins, int64_t id, int64_t pid,
			int64_t tid, int64_t start)
{
	FILE *out = timeline->out;

	timeline__begin_event(timeline);
	fprintf(out,
		"\"ph\": \"%s\", \"id\": %" PRId64 ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", ",
		begins ? "s" : "f", id, pid, tid);
	timeline__put_us(timeline, "ts", report_times__sum(timeline->epoch, start));
	fprintf(out, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"%s}", begins ? "" : ", \"bp\": \"e\"");
}

void timeline__put_counter(struct timeline *timeline, const char *name, int64_t pid, int64_t start,
			   double value)
{
	timeline__begin_event(timeline);
	fputs("\"ph\": \"C\", ", timeline->out);
	timeline__put_string(timeline, "name", name);
	fprintf(timeline->out, ", \"pid\": %" PRId64 ", \"tid\": 0, ", pid);
	timeline__put_us(timeline, "ts", report_times__sum(timeline->epoch, start));
	fprintf(timeline->out, ", \"args\": {\"value\": %.9g}}", isfinite(value) ? value : 0);
}

/* A table that the file lacks is no error: not every recording has everything. */
int timeline__put_rows(struct timeline *timeline, const char *table, const char *columns,
		       const char *where, void (*put)(struct timeline *, sqlite3_stmt *))
{
	sqlite3_stmt *statement;
	char sql[1024];
	int code;

	if (!report_file__has(timeline->file, table, NULL))
		return 0;
	snprintf(sql, sizeof(sql), "SELECT %s FROM %s AS t %s", columns, table, where);
	if (sqlite3_prepare_v2(timeline->file->db, sql, -1, &statement, NULL))
		return report_file__complain(timeline->file);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		put(timeline, statement);
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : report_file__complain(timeline->file);
}

static void put_label(struct timeline *timeline, const char *event, int64_t pid, int64_t tid,
		      const char *key, const char *text)
{
	timeline__begin_event(timeline);
	fprintf(timeline->out,
		"\"name\": \"%s\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": %" PRId64
		", \"tid\": %" PRId64 ", \"args\": {",
		event, pid, tid);
	timeline__put_string(timeline, key, text);
	fputs("}}", timeline->out);
}

static void put_order(struct timeline *timeline, const char *event, int64_t pid, int64_t tid,
		      int64_t index)
{
	timeline__begin_event(timeline);
	fprintf(timeline->out,
		"\"name\": \"%s\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": %" PRId64
		", \"tid\": %" PRId64 ", \"args\": {\"sort_index\": %" PRId64 "}}",
		event, pid, tid, index);
}

static void put_stream_label(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0), device = sqlite3_column_int64(row, 1);
	int64_t stream = sqlite3_column_int64(row, 2);
	int64_t pid = timeline__device_pid(timeline, global, device);
	char text[64];

	snprintf(text, sizeof(text), "stream %lld ", (long long)stream);
	put_label(timeline, "thread_name", pid, stream, "name", text);
	put_order(timeline, "thread_sort_index", pid, stream, stream);
}

static void put_waits_label(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t stream = sqlite3_column_int64(row, 2);
	int64_t pid = timeline__device_pid(timeline, sqlite3_column_int64(row, 0),
					   sqlite3_column_int64(row, 1));
	char text[64];

	if (stream == UINT32_MAX)
		stream = -1;
	if (sqlite3_column_int64(row, 1) == UINT32_MAX)
		snprintf(text, sizeof(text), "waits");
	else
		snprintf(text, sizeof(text), "stream %lld (sync)", (long long)stream);
	stream = report_times__wrap(stream, TIMELINE_SYNC_ROWS);
	put_label(timeline, "thread_name", pid, stream, "name", text);
	put_order(timeline, "thread_sort_index", pid, stream, stream);
}

static void put_device_label(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0), device = sqlite3_column_int64(row, 1);
	int64_t pid = timeline__device_pid(timeline, global, device);
	char text[96];

	put_label(timeline, "process_name", pid, 0, "name",
		  export_names__command(timeline->names, global));
	if (export_names__process_count(timeline->names) > 1)
		snprintf(text, sizeof(text), "GPU %lld of process %lld", (long long)device,
			 (long long)(global >> 24 & 0xffffff));
	else
		snprintf(text, sizeof(text), "GPU %lld", (long long)device);
	put_label(timeline, "process_labels", pid, 0, "labels", text);
	put_order(timeline, "process_sort_index", pid, 0, report_times__wrap(pid, GPU_ROWS_LAST));
}

static void put_thread_label(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0);
	int64_t pid = global >> 24 & 0xffffff, tid = global & 0xffffff;
	char text[256];

	snprintf(text, sizeof(text), "thread %lld (%s)", (long long)tid,
		 export_names__command(timeline->names, global));
	put_label(timeline, "thread_name", pid, tid, "name", text);
	put_order(timeline, "thread_sort_index", pid, tid, tid);
}

/* What threads did: a row for each, beside that of its calls. */
struct state_row {
	struct timeline *timeline;
	int64_t global; /* of the row that is written; 0 = none */
};

static void begin_row(struct state_row *at, int64_t global)
{
	int64_t pid = global >> 24 & 0xffffff, tid = global & 0xffffff;
	char text[64];

	at->global = global;
	snprintf(text, sizeof(text), "thread %" PRId64 ": state", tid);
	put_label(at->timeline, "thread_name", pid, TIMELINE_STATE_ROWS + tid, "name", text);
	put_order(at->timeline, "thread_sort_index", pid, TIMELINE_STATE_ROWS + tid, tid);
}

static void put_fact(struct timeline *timeline, const char *key, const char *text, bool *any)
{
	if (!*text)
		return;
	fputs(*any ? ", " : "", timeline->out);
	timeline__put_string(timeline, key, text);
	*any = true;
}

static void put_state(void *context, const struct report_thread_span *span)
{
	static const char *const states[] = {"running", "runnable", "blocked", "unknown"};
	struct state_row *at = context;
	struct timeline *timeline = at->timeline;
	bool any = false;

	if (at->global != span->global)
		begin_row(at, span->global);
	timeline__put_span(timeline, "thread_state", span->name, span->global >> 24 & 0xffffff,
			   TIMELINE_STATE_ROWS + (span->global & 0xffffff), span->start, span->end);
	fputs(", \"args\": {", timeline->out);
	put_fact(timeline, "state", states[span->state], &any);
	put_fact(timeline, "function", span->function, &any);
	put_fact(timeline, span->state == THREAD_RUNNABLE ? "had the CPU" : "woken by", span->other,
		 &any);
	if (span->state == THREAD_BLOCKED && span->runnable)
		fprintf(timeline->out, ", \"runnable ns\": %" PRId64, span->runnable);
	fputs("}}", timeline->out);
}

static int put_thread_states(struct timeline *timeline)
{
	struct state_row at = {.timeline = timeline};

	return report_thread_states__each(timeline->file, put_state, &at, &timeline->invalid);
}

static int put_labels(struct timeline *timeline)
{
	/* A stream may carry no kernels at all; to be named twice does no harm. */
	static const char *const others[] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
					     "CUPTI_ACTIVITY_KIND_MEMSET",
					     "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
	int err;

	/* The order of processes decides whose devices keep their numbers. */
	err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_KERNEL",
				 "DISTINCT globalPid, deviceId", "ORDER BY 1, 2", put_device_label);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_KERNEL",
					 "DISTINCT globalPid, deviceId, streamId",
					 "ORDER BY 1, 2, 3", put_stream_label);
	for (size_t i = 0; !err && i < sizeof(others) / sizeof(others[0]); i++)
		err = timeline__put_rows(timeline, others[i],
					 "DISTINCT globalPid, deviceId, streamId",
					 "ORDER BY 1, 2, 3", put_stream_label);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
					 "DISTINCT globalPid, deviceId, streamId",
					 "ORDER BY 1, 2, 3", put_waits_label);
	if (!err && report_file__number(timeline->file,
					"SELECT 1 FROM CUPTI_ACTIVITY_KIND_OVERHEAD LIMIT 1", 0))
		put_label(timeline, "process_name", -1, 0, "name", "Overhead");
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_RUNTIME",
					 "DISTINCT globalTid", "ORDER BY 1", put_thread_label);
	for (size_t i = 0; !err && i < export_names__process_count(timeline->names); i++) {
		int64_t global = export_names__process_at(timeline->names, i);
		int64_t pid = global >> 24 & 0xffffff;

		put_label(timeline, "process_name", pid, 0, "name",
			  export_names__command(timeline->names, global));
		put_label(timeline, "process_labels", pid, 0, "labels", "CPU");
		put_order(timeline, "process_sort_index", pid, 0, pid);
	}
	return err;
}

static void put_device(struct timeline *timeline, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 1);
	int64_t major = sqlite3_column_int64(row, 3), minor = sqlite3_column_int64(row, 4);
	struct occupancy_device limits;
	FILE *out = timeline->out;

	fprintf(out, "%s\n{\"id\": %lld, ", timeline->separate ? "," : "",
		(long long)sqlite3_column_int64(row, 0));
	timeline->separate = true;
	timeline__put_string(timeline, "name", name ? name : "");
	fprintf(out,
		", \"totalGlobalMem\": %lld, \"computeMajor\": %lld, \"computeMinor\": %lld, "
		"\"numSms\": %lld",
		(long long)sqlite3_column_int64(row, 2), (long long)major, (long long)minor,
		(long long)sqlite3_column_int64(row, 5));
	/* The rest follows from the compute capability. */
	if (major >= 0 && major < 100 && minor >= 0 && minor < 10 &&
	    occupancy__device(major * 10 + minor, &limits))
		fprintf(out,
			", \"maxThreadsPerBlock\": %d, \"maxThreadsPerMultiprocessor\": %" PRId64
			", \"regsPerBlock\": %d, \"warpSize\": %d, \"sharedMemPerBlock\": %" PRId64
			", \"regsPerMultiprocessor\": %d, \"sharedMemPerBlockOptin\": %" PRId64
			", \"sharedMemPerMultiprocessor\": %" PRId64,
			OCCUPANCY_THREADS, limits.threads, OCCUPANCY_REGISTERS, OCCUPANCY_WARP,
			limits.block_shared, OCCUPANCY_REGISTERS, limits.block_shared_optin,
			limits.shared);
	fputs("}", out);
}

/* Of the first process that has one: readers of several files tell them apart by it. */
static void put_rank(struct timeline *timeline)
{
	bool known = report_file__has(timeline->file, "CUDA_TRACE_PROCESSES", "worldSize");
	int64_t rank = 0, ranks = -1;

	if (known) {
		rank = report_file__number(timeline->file,
					   "SELECT min(rank) FROM CUDA_TRACE_PROCESSES "
					   "WHERE rank >= 0",
					   0);
		ranks = report_file__number(timeline->file,
					    "SELECT max(worldSize) FROM CUDA_TRACE_PROCESSES", -1);
	}
	fprintf(timeline->out, "\"distributedInfo\": {\"rank\": %" PRId64, rank);
	if (ranks > 0)
		fprintf(timeline->out, ", \"world_size\": %" PRId64, ranks);
	putc('}', timeline->out);
}

static int put_head(struct timeline *timeline)
{
	int64_t utc = report_file__number(
		timeline->file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0);
	int64_t base = utc / QUARTER_NS * QUARTER_NS;
	FILE *out = timeline->out;
	int err;

	timeline->epoch = utc - base;
	/*
	 * Readers look for "rank": N in the first lines. With the unit "ms" catapult rounds to
	 * microseconds before it nests slices: launches of less would lie in each other, and their
	 * arrows would find no slice.
	 */
	fputs("{\n\"schemaVersion\": 1,\n\"deviceProperties\": [", out);
	err = timeline__put_rows(timeline, "TARGET_INFO_GPU",
				 "id, name, totalMemory, computeMajor, computeMinor, smCount", "",
				 put_device);
	timeline->separate = false;
	fputs("\n],\n", out);
	put_rank(timeline);
	fprintf(out,
		",\n\"displayTimeUnit\": \"ns\",\n"
		"\"baseTimeNanoseconds\": %" PRId64 ",\n\"traceEvents\": [",
		base);
	return err;
}

static int put_losses(struct timeline *timeline)
{
	sqlite3_stmt *statement;
	bool any = false;

	fputs("\n]", timeline->out);
	timeline__put_stack_frames(timeline);
	fputs(",\n\"cuda_trace_lost\": {", timeline->out);
	if (!sqlite3_prepare_v2(timeline->file->db,
				"SELECT stage || '.' || reason, count FROM CUDA_TRACE_LOST", -1,
				&statement, NULL)) {
		while (sqlite3_step(statement) == SQLITE_ROW) {
			const char *reason = (const char *)sqlite3_column_text(statement, 0);

			fputs(any ? ", " : "", timeline->out);
			any = true;
			text__write_json(timeline->out, reason ? reason : "");
			fprintf(timeline->out, ": %lld",
				(long long)sqlite3_column_int64(statement, 1));
		}
		sqlite3_finalize(statement);
	}
	fprintf(timeline->out,
		"},\n\"cuda_trace_invalid\": %" PRIu64 ",\n\"traceName\": \"cuda-trace " VERSION
		"\"\n}\n",
		timeline->invalid);
	return 0;
}

static int write_timeline(struct timeline *timeline)
{
	int err = export_names__open(&timeline->names, timeline->file);

	if (!err)
		err = export_callstacks__open(&timeline->callstacks, timeline->file,
					      timeline->names);
	if (!err)
		err = timeline__open_origins(timeline);
	if (!err)
		err = put_head(timeline);
	if (!err)
		err = put_labels(timeline);
	if (!err)
		err = timeline__put_all_rows(timeline);
	if (!err)
		err = timeline__put_gpu_ranges(timeline);
	if (!err)
		err = timeline__put_call_samples(timeline);
	if (!err)
		err = put_thread_states(timeline);
	if (!err)
		err = timeline__put_device_samples(timeline);
	if (!err)
		err = put_losses(timeline);
	free(timeline->runtime_calls);
	timeline__close_origins(timeline);
	stacks__free(&timeline->call_tree);
	export_callstacks__close(timeline->callstacks);
	export_names__close(timeline->names);
	return err;
}

int export_timeline(const struct report_file *file, FILE *out)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));
	int err;

	if (!timeline)
		return -ENOMEM;
	timeline->file = file;
	timeline->out = out;
	err = write_timeline(timeline);
	free(timeline);
	return err;
}
