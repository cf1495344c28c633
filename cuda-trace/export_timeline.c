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
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/export.h"
#include "cuda-trace/export_names.h"
#include "cuda-trace/text.h"

#define QUARTER_NS	7889238000000000ll /* Kineto rounds the base down to this */
#define PROCESS_DEVICES 1000000ll	   /* devices of process n begin at n times this */
#define SYNC_ROWS	1000000ll	   /* added to a stream's number for its waits */
#define GPU_ROWS_LAST	5000000ll

struct timeline {
	const struct report_file *file;
	FILE *out;
	struct names_of_file *names;
	int64_t epoch; /* UTC ns of the file's time 0, less the base */
	bool separate; /* a comma is due before the next event */
	uint64_t invalid;
};

static void begin_event(struct timeline *timeline)
{
	fputs(timeline->separate ? ",\n{" : "\n{", timeline->out);
	timeline->separate = true;
}

/* ns as µs with three decimals, exactly. */
static void put_us(FILE *out, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 : ns;

	fprintf(out, "\"%s\": %" PRIu64 ".%03u", key, size / 1000, (unsigned int)(size % 1000));
}

static void put_string(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\": ", key);
	text__write_json(out, text);
}

static int64_t device_pid(struct timeline *timeline, int64_t global, int64_t device)
{
	return (int64_t)export_names__process_index(timeline->names, global) * PROCESS_DEVICES +
	       device;
}

/* Unique in the file; of the first process, the correlation id itself. */
static int64_t flow_id(struct timeline *timeline, int64_t global, int64_t correlation)
{
	return correlation + ((int64_t)export_names__process_index(timeline->names, global) << 32);
}

static void put_span(struct timeline *timeline, const char *category, const char *name, int64_t pid,
		     int64_t tid, int64_t start, int64_t end)
{
	FILE *out = timeline->out;

	begin_event(timeline);
	fputs("\"ph\": \"X\", ", out);
	put_string(out, "cat", category);
	fputs(", ", out);
	put_string(out, "name", name);
	fprintf(out, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", ", pid, tid);
	put_us(out, "ts", timeline->epoch + start);
	fputs(", ", out);
	put_us(out, "dur", end - start);
}

static void put_flow(struct timeline *timeline, bool begins, int64_t id, int64_t pid, int64_t tid,
		     int64_t start)
{
	FILE *out = timeline->out;

	begin_event(timeline);
	fprintf(out,
		"\"ph\": \"%s\", \"id\": %" PRId64 ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", ",
		begins ? "s" : "f", id, pid, tid);
	put_us(out, "ts", timeline->epoch + start);
	fprintf(out, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"%s}", begins ? "" : ", \"bp\": \"e\"");
}

/* Columns that all rows of the GPU begin with. */
enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, GLOBAL, FIRST_OWN };
#define GPU_COLUMNS "start, end, deviceId, contextId, streamId, correlationId, globalPid"

struct gpu_row {
	int64_t start, end, device, context, stream, correlation, global, pid;
};

/* False for a row whose times are no span: it is counted instead. */
static bool read_gpu_row(struct timeline *timeline, sqlite3_stmt *row, struct gpu_row *gpu)
{
	gpu->start = sqlite3_column_int64(row, START);
	gpu->end = sqlite3_column_int64(row, END);
	gpu->device = sqlite3_column_int64(row, DEVICE);
	gpu->context = sqlite3_column_int64(row, CONTEXT);
	gpu->stream = sqlite3_column_int64(row, STREAM);
	gpu->correlation = sqlite3_column_int64(row, CORRELATION);
	gpu->global = sqlite3_column_int64(row, GLOBAL);
	gpu->pid = device_pid(timeline, gpu->global, gpu->device);
	if (gpu->end >= gpu->start)
		return true;
	timeline->invalid++;
	return false;
}

static void put_gpu_args(struct timeline *timeline, const struct gpu_row *gpu)
{
	fprintf(timeline->out,
		", \"args\": {\"device\": %" PRId64 ", \"context\": %" PRId64
		", \"stream\": %" PRId64 ", \"correlation\": %" PRId64,
		gpu->device, gpu->context, gpu->stream, gpu->correlation);
}

static void end_gpu_row(struct timeline *timeline, const struct gpu_row *gpu)
{
	fputs("}}", timeline->out);
	put_flow(timeline, false, flow_id(timeline, gpu->global, gpu->correlation), gpu->pid,
		 gpu->stream, gpu->start);
}

static void put_kernel(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t v[14];
	struct gpu_row gpu;

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	for (int i = 0; i < 14; i++)
		v[i] = sqlite3_column_int64(row, FIRST_OWN + i);
	put_span(timeline, "kernel", export_names__string(timeline->names, v[0]), gpu.pid,
		 gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	fprintf(timeline->out,
		", \"queued\": 0, \"registers per thread\": %" PRId64
		", \"shared memory\": %" PRId64 ", \"grid\": [%" PRId64 ", %" PRId64 ", %" PRId64
		"], \"block\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]",
		v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
	/* Both are means over the GPU's multiprocessors, as Kineto has them. */
	if (v[9] > 0) {
		double blocks = (double)v[3] * v[4] * v[5] / v[9];

		fprintf(timeline->out, ", \"blocks per SM\": %.6g, \"warps per SM\": %.6g", blocks,
			blocks * v[6] * v[7] * v[8] / 32);
	}
	if (v[11])
		fprintf(timeline->out, ", \"graph id\": %" PRId64 ", \"graph node id\": %" PRId64,
			v[10], v[11]);
	end_gpu_row(timeline, &gpu);
}

static void put_bandwidth(struct timeline *timeline, const struct gpu_row *gpu, int64_t bytes)
{
	fprintf(timeline->out, ", \"bytes\": %" PRId64, bytes);
	if (gpu->end > gpu->start)
		fprintf(timeline->out, ", \"memory bandwidth (GB/s)\": %.6g",
			(double)bytes / (gpu->end - gpu->start));
}

static const char *memory_name(int64_t kind)
{
	static const char *const names[] = {"Pageable",	      "Pinned",	 "Device",
					    "Array",	      "Managed", "Device Static",
					    "Managed Static", "Unknown"};

	return names[kind >= 0 && kind < 7 ? kind : 7];
}

static void put_memcpy(struct timeline *timeline, sqlite3_stmt *row)
{
	static const char *const kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH",
					    "AtoA",    "AtoD", "DtoA", "DtoD", "HtoH",
					    "PtoP",    "HtoD", "DtoH", "DtoD"};
	int64_t kind = sqlite3_column_int64(row, FIRST_OWN + 1);
	char name[96];
	struct gpu_row gpu;

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)",
		 kinds[kind > 0 && kind < 14 ? kind : 0],
		 memory_name(sqlite3_column_int64(row, FIRST_OWN + 2)),
		 memory_name(sqlite3_column_int64(row, FIRST_OWN + 3)));
	put_span(timeline, "gpu_memcpy", name, gpu.pid, gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	if (kind == 10)
		fprintf(timeline->out, ", \"fromDevice\": %" PRId64 ", \"toDevice\": %" PRId64,
			(int64_t)sqlite3_column_int64(row, FIRST_OWN + 4),
			(int64_t)sqlite3_column_int64(row, FIRST_OWN + 5));
	put_bandwidth(timeline, &gpu, sqlite3_column_int64(row, FIRST_OWN));
	end_gpu_row(timeline, &gpu);
}

static void put_memset(struct timeline *timeline, sqlite3_stmt *row)
{
	char name[64];
	struct gpu_row gpu;

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	snprintf(name, sizeof(name), "Memset (%s)",
		 memory_name(sqlite3_column_type(row, FIRST_OWN + 1) == SQLITE_NULL
				     ? 7
				     : sqlite3_column_int64(row, FIRST_OWN + 1)));
	put_span(timeline, "gpu_memset", name, gpu.pid, gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	put_bandwidth(timeline, &gpu, sqlite3_column_int64(row, FIRST_OWN));
	end_gpu_row(timeline, &gpu);
}

static void put_graph(struct timeline *timeline, sqlite3_stmt *row)
{
	char name[64];
	struct gpu_row gpu;

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	snprintf(name, sizeof(name), "CUDA graph %lld",
		 (long long)sqlite3_column_int64(row, FIRST_OWN));
	put_span(timeline, "gpu_user_annotation", name, gpu.pid, gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	fprintf(timeline->out, ", \"graph id\": %lld",
		(long long)sqlite3_column_int64(row, FIRST_OWN));
	end_gpu_row(timeline, &gpu);
}

static void put_sync(struct timeline *timeline, sqlite3_stmt *row)
{
	static const char *const kinds[] = {"Unknown", "Event Sync", "Stream Wait Event",
					    "Stream Sync", "Context Sync"};
	int64_t kind = sqlite3_column_int64(row, FIRST_OWN);
	const char *name = kinds[kind > 0 && kind < 5 ? kind : 0];
	struct gpu_row gpu;

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	if (gpu.stream == UINT32_MAX)
		gpu.stream = -1;
	put_span(timeline, "cuda_sync", name, gpu.pid, gpu.stream + SYNC_ROWS, gpu.start, gpu.end);
	fprintf(timeline->out,
		", \"args\": {\"cuda_sync_kind\": \"%s\", \"stream\": %" PRId64
		", \"correlation\": %" PRId64 ", \"device\": %" PRId64 ", \"context\": %" PRId64
		"}}",
		name, gpu.stream, gpu.correlation, gpu.device, gpu.context);
}

/* Without "_v7000" and the like; "_v2" belongs to the name. */
static void plain_call(char *out, size_t size, const char *name)
{
	char *tail;

	snprintf(out, size, "%s", name);
	tail = strrchr(out, '_');
	if (tail && tail[1] == 'v' && strlen(tail + 2) >= 4 &&
	    strspn(tail + 2, "0123456789") == strlen(tail + 2))
		*tail = '\0';
}

/* The calls that Kineto lets a flow begin at. */
static bool begins_flow(const char *name)
{
	return strstr(name, "LaunchKernel") || strstr(name, "GraphLaunch") ||
	       strstr(name, "LaunchCooperative") || strstr(name, "Memcpy") ||
	       strstr(name, "Memset") || strstr(name, "StreamSynchronize") ||
	       strstr(name, "DeviceSynchronize") || strstr(name, "StreamWaitEvent");
}

static void put_call(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t start = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
	int64_t class = sqlite3_column_int64(row, 2), global = sqlite3_column_int64(row, 3);
	int64_t correlation = sqlite3_column_int64(row, 4);
	int64_t pid = global >> 24 & 0xffffff, tid = global & 0xffffff;
	char name[256];

	if (end < start) {
		timeline->invalid++;
		return;
	}
	plain_call(name, sizeof(name),
		   export_names__string(timeline->names, sqlite3_column_int64(row, 5)));
	put_span(timeline, class ? "cuda_driver" : "cuda_runtime", name, pid, tid, start, end);
	fprintf(timeline->out, ", \"args\": {\"correlation\": %" PRId64, correlation);
	if (sqlite3_column_int64(row, 6))
		fprintf(timeline->out, ", \"result\": %lld",
			(long long)sqlite3_column_int64(row, 6));
	fputs("}}", timeline->out);
	if (begins_flow(name))
		put_flow(timeline, true, flow_id(timeline, global, correlation), pid, tid, start);
}

static void put_overhead(struct timeline *timeline, sqlite3_stmt *row)
{
	static const char *const names[] = {
		"Unknown",
		"Unknown",
		"Driver Compiler",
		"Buffer Flush",
		"Instrumentation",
		"Resource",
		"Runtime Triggered Module Loading",
		"Lazy Function Loading",
		"Command Buffer Full",
	};
	int64_t start = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
	int64_t kind = sqlite3_column_int64(row, 3);

	if (end < start) {
		timeline->invalid++;
		return;
	}
	put_span(timeline, "overhead", names[kind > 0 && kind < 9 ? kind : 0], -1,
		 sqlite3_column_int64(row, 2) & 0xffffff, start, end);
	fputs("}", timeline->out);
}

static void put_range(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t start = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
	int64_t global = sqlite3_column_int64(row, 2);
	const char *text = (const char *)sqlite3_column_text(row, 4);
	char shown[1024];

	if (end < start) {
		timeline->invalid++;
		return;
	}
	put_span(timeline, "user_annotation",
		 text ? text__show(shown, sizeof(shown), text, 0)
		      : export_names__string(timeline->names, sqlite3_column_int64(row, 3)),
		 global >> 24 & 0xffffff, global & 0xffffff, start, end);
	fputs("}", timeline->out);
}

/* A table that the file lacks is no error: not every recording has everything. */
static int put_rows(struct timeline *timeline, const char *table, const char *columns,
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

static int put_all_rows(struct timeline *timeline)
{
	const struct report_file *file = timeline->file;
	bool graphs = report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", "graphId");
	bool gpus = report_file__has(file, "TARGET_INFO_GPU", "smCount");
	char kernel[512];
	int err;

	snprintf(kernel, sizeof(kernel),
		 GPU_COLUMNS ", demangledName, registersPerThread, "
			     "staticSharedMemory + dynamicSharedMemory, gridX, gridY, gridZ, "
			     "blockX, blockY, blockZ, %s, %s, graphNodeId",
		 gpus ? "(SELECT smCount FROM TARGET_INFO_GPU WHERE id = deviceId LIMIT 1)" : "0",
		 graphs ? "graphId" : "0");
	err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_RUNTIME",
		       "start, end, eventClass, globalTid, correlationId, nameId, returnValue", "",
		       put_call);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_KERNEL", kernel, "", put_kernel);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_MEMCPY",
			       GPU_COLUMNS ", bytes, copyKind, srcKind, dstKind, srcDeviceId, "
					   "dstDeviceId",
			       "", put_memcpy);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_MEMSET",
			       GPU_COLUMNS ", bytes, memKind", "", put_memset);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
			       GPU_COLUMNS ", graphExecId", "", put_graph);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
			       GPU_COLUMNS ", syncType", "", put_sync);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_OVERHEAD",
			       "start, end, globalTid, overheadType", "", put_overhead);
	if (!err)
		err = put_rows(timeline, "NVTX_EVENTS", "start, end, globalTid, textId, text",
			       "WHERE eventType IN (59, 60) AND end IS NOT NULL", put_range);
	return err;
}

static void put_label(struct timeline *timeline, const char *event, int64_t pid, int64_t tid,
		      const char *key, const char *text)
{
	begin_event(timeline);
	fprintf(timeline->out,
		"\"name\": \"%s\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": %" PRId64
		", \"tid\": %" PRId64 ", \"args\": {",
		event, pid, tid);
	put_string(timeline->out, key, text);
	fputs("}}", timeline->out);
}

static void put_order(struct timeline *timeline, const char *event, int64_t pid, int64_t tid,
		      int64_t index)
{
	begin_event(timeline);
	fprintf(timeline->out,
		"\"name\": \"%s\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": %" PRId64
		", \"tid\": %" PRId64 ", \"args\": {\"sort_index\": %" PRId64 "}}",
		event, pid, tid, index);
}

static void put_stream_label(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0), device = sqlite3_column_int64(row, 1);
	int64_t stream = sqlite3_column_int64(row, 2);
	int64_t pid = device_pid(timeline, global, device);
	char text[64];

	snprintf(text, sizeof(text), "stream %lld ", (long long)stream);
	put_label(timeline, "thread_name", pid, stream, "name", text);
	put_order(timeline, "thread_sort_index", pid, stream, stream);
}

static void put_waits_label(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t stream = sqlite3_column_int64(row, 2);
	int64_t pid =
		device_pid(timeline, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
	char text[64];

	if (stream == UINT32_MAX)
		stream = -1;
	snprintf(text, sizeof(text), "stream %lld (sync)", (long long)stream);
	put_label(timeline, "thread_name", pid, stream + SYNC_ROWS, "name", text);
	put_order(timeline, "thread_sort_index", pid, stream + SYNC_ROWS, stream + SYNC_ROWS);
}

static void put_device_label(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t global = sqlite3_column_int64(row, 0), device = sqlite3_column_int64(row, 1);
	int64_t pid = device_pid(timeline, global, device);
	char text[96];

	put_label(timeline, "process_name", pid, 0, "name",
		  export_names__command(timeline->names, global));
	if (export_names__process_count(timeline->names) > 1)
		snprintf(text, sizeof(text), "GPU %lld of process %lld", (long long)device,
			 (long long)(global >> 24 & 0xffffff));
	else
		snprintf(text, sizeof(text), "GPU %lld", (long long)device);
	put_label(timeline, "process_labels", pid, 0, "labels", text);
	put_order(timeline, "process_sort_index", pid, 0, GPU_ROWS_LAST + pid);
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

static int put_labels(struct timeline *timeline)
{
	/* A stream may carry no kernels at all; to be named twice does no harm. */
	static const char *const others[] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
					     "CUPTI_ACTIVITY_KIND_MEMSET",
					     "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
	int err;

	/* The order of processes decides whose devices keep their numbers. */
	err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_KERNEL", "DISTINCT globalPid, deviceId",
		       "ORDER BY 1, 2", put_device_label);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_KERNEL",
			       "DISTINCT globalPid, deviceId, streamId", "ORDER BY 1, 2, 3",
			       put_stream_label);
	for (size_t i = 0; !err && i < sizeof(others) / sizeof(others[0]); i++)
		err = put_rows(timeline, others[i], "DISTINCT globalPid, deviceId, streamId",
			       "ORDER BY 1, 2, 3", put_stream_label);
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
			       "DISTINCT globalPid, deviceId, streamId", "ORDER BY 1, 2, 3",
			       put_waits_label);
	if (!err && report_file__number(timeline->file,
					"SELECT 1 FROM CUPTI_ACTIVITY_KIND_OVERHEAD LIMIT 1", 0))
		put_label(timeline, "process_name", -1, 0, "name", "Overhead");
	if (!err)
		err = put_rows(timeline, "CUPTI_ACTIVITY_KIND_RUNTIME", "DISTINCT globalTid",
			       "ORDER BY 1", put_thread_label);
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
	FILE *out = timeline->out;

	fprintf(out, "%s\n{\"id\": %lld, ", timeline->separate ? "," : "",
		(long long)sqlite3_column_int64(row, 0));
	timeline->separate = true;
	put_string(out, "name", name ? name : "");
	fprintf(out,
		", \"totalGlobalMem\": %lld, \"computeMajor\": %lld, \"computeMinor\": %lld, "
		"\"numSms\": %lld}",
		(long long)sqlite3_column_int64(row, 2), (long long)sqlite3_column_int64(row, 3),
		(long long)sqlite3_column_int64(row, 4), (long long)sqlite3_column_int64(row, 5));
}

static int put_head(struct timeline *timeline)
{
	int64_t utc = report_file__number(
		timeline->file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0);
	int64_t base = utc / QUARTER_NS * QUARTER_NS;
	FILE *out = timeline->out;
	int err;

	timeline->epoch = utc - base;
	/* Readers look for "rank": N in the first lines. */
	fputs("{\n\"schemaVersion\": 1,\n\"deviceProperties\": [", out);
	err = put_rows(timeline, "TARGET_INFO_GPU",
		       "id, name, totalMemory, computeMajor, computeMinor, smCount", "",
		       put_device);
	timeline->separate = false;
	fprintf(out,
		"\n],\n\"distributedInfo\": {\"rank\": 0},\n\"displayTimeUnit\": \"ms\",\n"
		"\"baseTimeNanoseconds\": %" PRId64 ",\n\"traceEvents\": [",
		base);
	return err;
}

static int put_losses(struct timeline *timeline)
{
	sqlite3_stmt *statement;
	bool any = false;

	fputs("\n],\n\"cuda_trace_lost\": {", timeline->out);
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

int export_timeline(const struct report_file *file, FILE *out)
{
	struct timeline timeline = {.file = file, .out = out};
	int err = export_names__open(&timeline.names, file);

	if (!err)
		err = put_head(&timeline);
	if (!err)
		err = put_labels(&timeline);
	if (!err)
		err = put_all_rows(&timeline);
	if (!err)
		err = put_losses(&timeline);
	export_names__close(timeline.names);
	return err;
}
