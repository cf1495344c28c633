// SPDX-License-Identifier: BSD-2-Clause
/* The timeline's events: one function for each kind of row. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/counters/occupancy.h"
#include "cuda-trace/export/export_timeline.h"
#include "cuda-trace/base/api_names.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/report/report_times.h"
#include "libcupti-usdt/probes.h"

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
	gpu->pid = timeline__device_pid(timeline, gpu->global, gpu->device);
	if (report_times__are_possible(gpu->start, gpu->end))
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
	timeline__put_flow(timeline, false,
			   timeline__flow_id(timeline, gpu->global, gpu->correlation), gpu->pid,
			   gpu->stream, gpu->start);
}

/* The values of a kernel's row, after those that all rows of the GPU have. */
enum { NAME, REGISTERS, SHARED, GRID, BLOCK = GRID + 3, SMS = BLOCK + 3, GRAPH, NODE, CAPABILITY };

/* Products of a hostile file's numbers may be larger than a number can be. */
static int64_t product(const int64_t size[3])
{
	int64_t all = 1;

	for (int i = 0; i < 3; i++)
		if (size[i] < 0 || __builtin_mul_overflow(all, size[i], &all))
			return 0;
	return all;
}

/* How the launch fills the GPU: means over its multiprocessors, as Kineto has them. */
static void put_share(struct timeline *timeline, const int64_t *v)
{
	const struct occupancy_launch launch = {
		.blocks = product(v + GRID),
		.threads = product(v + BLOCK),
		.registers = v[REGISTERS],
		.shared = v[SHARED],
	};
	double blocks = v[SMS] > 0 ? (double)launch.blocks / v[SMS] : 0;
	char factors[OCCUPANCY_FACTORS];
	struct occupancy occupancy;

	if (v[SMS] > 0)
		fprintf(timeline->out, ", \"blocks per SM\": %.6g, \"warps per SM\": %.6g", blocks,
			blocks * launch.threads / 32);
	if (!occupancy__of(&launch, v[CAPABILITY], v[SMS], &occupancy))
		return;
	occupancy__factors(&occupancy, factors);
	/* Without blockLimitBarriers: no record says how many barriers a kernel uses. */
	fprintf(timeline->out,
		", \"est. achieved occupancy %%\": %d, \"occupancy\": "
		"{\"activeBlocksPerMultiprocessor\": %" PRId64 ", \"limitingFactors\": \"%s\", "
		"\"blockLimitRegs\": %" PRId64 ", \"blockLimitSharedMem\": %" PRId64
		", \"blockLimitWarps\": %" PRId64 ", \"blockLimitBlocks\": %" PRId64
		", \"allocatedRegistersPerBlock\": %" PRId64
		", \"allocatedSharedMemPerBlock\": %" PRId64 "}",
		occupancy.percent, occupancy.blocks, factors, occupancy.by_registers,
		occupancy.by_shared, occupancy.by_warps, occupancy.by_blocks, occupancy.registers,
		occupancy.shared);
}

static void put_kernel(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t v[13];
	struct gpu_row gpu;

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	for (int i = 0; i < 13; i++)
		v[i] = sqlite3_column_int64(row, FIRST_OWN + i);
	timeline__put_span(timeline, "kernel", export_names__string(timeline->names, v[0]), gpu.pid,
			   gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	fprintf(timeline->out,
		", \"queued\": 0, \"registers per thread\": %" PRId64
		", \"shared memory\": %" PRId64 ", \"grid\": [%" PRId64 ", %" PRId64 ", %" PRId64
		"], \"block\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]",
		v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
	put_share(timeline, v);
	if (v[NODE])
		fprintf(timeline->out, ", \"graph id\": %" PRId64 ", \"graph node id\": %" PRId64,
			v[GRAPH], v[NODE]);
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

/* Between two GPUs Kineto names all who take part, and no "device" or "context". */
static void put_peer_args(struct timeline *timeline, const struct gpu_row *gpu, sqlite3_stmt *row)
{
	fprintf(timeline->out,
		", \"args\": {\"fromDevice\": %" PRId64 ", \"inDevice\": %" PRId64
		", \"toDevice\": %" PRId64 ", \"fromContext\": %" PRId64 ", \"inContext\": %" PRId64
		", \"toContext\": %" PRId64 ", \"stream\": %" PRId64 ", \"correlation\": %" PRId64,
		(int64_t)sqlite3_column_int64(row, FIRST_OWN + 4), gpu->device,
		(int64_t)sqlite3_column_int64(row, FIRST_OWN + 5),
		(int64_t)sqlite3_column_int64(row, FIRST_OWN + 6), gpu->context,
		(int64_t)sqlite3_column_int64(row, FIRST_OWN + 7), gpu->stream, gpu->correlation);
}

/* Of copies and memsets the node is known, but not the graph. */
static void put_node(struct timeline *timeline, sqlite3_stmt *row, int column)
{
	int64_t node = sqlite3_column_int64(row, column);

	if (node)
		fprintf(timeline->out, ", \"graph node id\": %" PRId64, node);
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
	timeline__put_span(timeline, "gpu_memcpy", name, gpu.pid, gpu.stream, gpu.start, gpu.end);
	if (kind == 10)
		put_peer_args(timeline, &gpu, row);
	else
		put_gpu_args(timeline, &gpu);
	put_bandwidth(timeline, &gpu, sqlite3_column_int64(row, FIRST_OWN));
	put_node(timeline, row, FIRST_OWN + 8);
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
	timeline__put_span(timeline, "gpu_memset", name, gpu.pid, gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	put_bandwidth(timeline, &gpu, sqlite3_column_int64(row, FIRST_OWN));
	put_node(timeline, row, FIRST_OWN + 2);
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
	timeline__put_span(timeline, "gpu_user_annotation", name, gpu.pid, gpu.stream, gpu.start,
			   gpu.end);
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
	if (gpu.device == UINT32_MAX)
		gpu.device = -1;
	timeline__put_span(timeline, "cuda_sync", name, gpu.pid,
			   report_times__wrap(gpu.stream, TIMELINE_SYNC_ROWS), gpu.start, gpu.end);
	fprintf(timeline->out,
		", \"args\": {\"cuda_sync_kind\": \"%s\", \"stream\": %" PRId64
		", \"correlation\": %" PRId64 ", \"device\": %" PRId64 ", \"context\": %" PRId64,
		name, gpu.stream, gpu.correlation, gpu.device, gpu.context);
	if (kind == 1 || kind == 2)
		fprintf(timeline->out, ", \"wait_on_cuda_event_id\": %lld",
			(long long)sqlite3_column_int64(row, FIRST_OWN + 1));
	fputs("}}", timeline->out);
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

const char *const *timeline__frames(struct timeline *timeline, int64_t chain, size_t *count)
{
	*count = 0;
	return timeline->callstacks ? export_callstacks__frames(timeline->callstacks, chain, count)
				    : NULL;
}

/* As PyTorch writes them: innermost first, parted by ";". */
static void put_stack(struct timeline *timeline, int64_t chain)
{
	const char *const *frames;
	char *text = NULL;
	size_t count, size;
	FILE *joined;

	frames = timeline__frames(timeline, chain, &count);
	joined = frames ? open_memstream(&text, &size) : NULL;
	if (!joined)
		return;
	for (size_t i = 0; i < count; i++)
		fprintf(joined, "%s%s", i ? ";" : "", frames[i]);
	if (!fclose(joined)) {
		fputs(", ", timeline->out);
		timeline__put_string(timeline, "Call stack", text);
	}
	free(text);
}

/* Beyond that many (256 MiB) a driver call inside one is shown, too. */
#define MAX_RUNTIME_CALLS (32u << 20)

static void note_runtime_call(struct timeline *timeline, sqlite3_stmt *row)
{
	if (!begins_flow(export_names__string(timeline->names, sqlite3_column_int64(row, 2))))
		return;
	if (timeline->runtime_count == timeline->runtime_capacity) {
		size_t capacity =
			timeline->runtime_capacity ? timeline->runtime_capacity * 2 : 1024;
		uint64_t *larger =
			capacity > MAX_RUNTIME_CALLS
				? NULL
				: reallocarray(timeline->runtime_calls, capacity, sizeof(*larger));

		if (!larger)
			return;
		timeline->runtime_calls = larger;
		timeline->runtime_capacity = capacity;
	}
	timeline->runtime_calls[timeline->runtime_count++] = timeline__flow_id(
		timeline, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
}

static int by_id(const void *one, const void *two)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)two;

	return a < b ? -1 : a > b;
}

/* A driver call that a runtime call made has the same correlation id. Kineto has the runtime call
 * alone, and its readers (Holistic Trace Analysis) take a correlation id for that of one launch. */
static bool is_inner(struct timeline *timeline, int64_t class, int64_t global, int64_t correlation)
{
	uint64_t id = timeline__flow_id(timeline, global, correlation);

	return class && correlation && timeline->runtime_count &&
	       bsearch(&id, timeline->runtime_calls, timeline->runtime_count, sizeof(id), by_id);
}

static void put_call(struct timeline *timeline, sqlite3_stmt *row)
{
	int64_t start = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
	int64_t class = sqlite3_column_int64(row, 2), global = sqlite3_column_int64(row, 3);
	int64_t correlation = sqlite3_column_int64(row, 4);
	int64_t pid = global >> 24 & 0xffffff, tid = global & 0xffffff;
	const char *named;
	unsigned int cbid;
	uint32_t node;
	char name[256];

	if (!report_times__are_possible(start, end)) {
		timeline->invalid++;
		return;
	}
	if (is_inner(timeline, class, global, correlation))
		return;
	named = export_names__string(timeline->names, sqlite3_column_int64(row, 5));
	plain_call(name, sizeof(name), named);
	timeline__put_span(timeline, class ? "cuda_driver" : "cuda_runtime", name, pid, tid, start,
			   end);
	fprintf(timeline->out, ", \"args\": {\"correlation\": %" PRId64, correlation);
	cbid = store__call_number(class ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME, named);
	if (cbid)
		fprintf(timeline->out, ", \"cbid\": %u", cbid);
	if (sqlite3_column_int64(row, 6))
		fprintf(timeline->out, ", \"result\": %lld",
			(long long)sqlite3_column_int64(row, 6));
	if (sqlite3_column_type(row, 7) != SQLITE_NULL)
		put_stack(timeline, sqlite3_column_int64(row, 7));
	putc('}', timeline->out);
	node = sqlite3_column_type(row, 7) != SQLITE_NULL
		       ? timeline__stack_node(timeline, sqlite3_column_int64(row, 7))
		       : 0;
	if (node)
		fprintf(timeline->out, ", \"sf\": \"%" PRIu32 "\"", node);
	putc('}', timeline->out);
	if (correlation && begins_flow(name))
		timeline__put_flow(timeline, true, timeline__flow_id(timeline, global, correlation),
				   pid, tid, start);
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
		"Activity Buffer Request",
	};
	int64_t start = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
	int64_t kind = sqlite3_column_int64(row, 3);

	if (!report_times__are_possible(start, end)) {
		timeline->invalid++;
		return;
	}
	timeline__put_span(timeline, "overhead", names[kind > 0 && kind < 10 ? kind : 0], -1,
			   sqlite3_column_int64(row, 2) & 0xffffff, start, end);
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
	fputs("}", timeline->out);
}

int timeline__put_all_rows(struct timeline *timeline)
{
	const struct report_file *file = timeline->file;
	bool graphs = report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", "graphId");
	bool gpus = report_file__has(file, "TARGET_INFO_GPU", "computeMinor");
	char kernel[512], call[128];
	int err;

	snprintf(kernel, sizeof(kernel),
		 GPU_COLUMNS ", demangledName, registersPerThread, "
			     "staticSharedMemory + dynamicSharedMemory, gridX, gridY, gridZ, "
			     "blockX, blockY, blockZ, %s, %s, graphNodeId, %s",
		 gpus ? "(SELECT smCount FROM TARGET_INFO_GPU WHERE id = deviceId LIMIT 1)" : "0",
		 graphs ? "graphId" : "0",
		 gpus ? "(SELECT computeMajor * 10 + computeMinor FROM TARGET_INFO_GPU WHERE id = "
			"deviceId LIMIT 1)"
		      : "0");
	snprintf(call, sizeof(call),
		 "start, end, eventClass, globalTid, correlationId, nameId, returnValue, %s",
		 report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId")
			 ? "callchainId"
			 : "NULL");
	err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_RUNTIME",
				 "globalTid, correlationId, nameId", "WHERE eventClass = 0",
				 note_runtime_call);
	if (timeline->runtime_count)
		qsort(timeline->runtime_calls, timeline->runtime_count,
		      sizeof(*timeline->runtime_calls), by_id);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_RUNTIME", call, "",
					 put_call);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_KERNEL", kernel, "",
					 put_kernel);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_MEMCPY",
					 GPU_COLUMNS
					 ", bytes, copyKind, srcKind, dstKind, srcDeviceId, "
					 "dstDeviceId, srcContextId, dstContextId, graphNodeId",
					 "", put_memcpy);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_MEMSET",
					 GPU_COLUMNS ", bytes, memKind, graphNodeId", "",
					 put_memset);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
					 GPU_COLUMNS ", graphExecId", "", put_graph);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
					 GPU_COLUMNS ", syncType, eventId", "", put_sync);
	if (!err)
		err = timeline__put_rows(timeline, "CUPTI_ACTIVITY_KIND_OVERHEAD",
					 "start, end, globalTid, overheadType", "", put_overhead);
	if (!err)
		err = timeline__put_rows(
			timeline, "NVTX_EVENTS", "start, end, globalTid, textId, text",
			"WHERE eventType IN (59, 60) AND end IS NOT NULL", put_range);
	return err;
}
