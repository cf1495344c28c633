// SPDX-License-Identifier: BSD-2-Clause
/* The timeline's events: one function for each kind of row. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/counters/occupancy.h"
#include "cuda-trace/export/export_runtime_names.h"
#include "cuda-trace/export/export_timeline.h"
#include "cuda-trace/base/api_names.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/recording/record_columns.h"
#include "cuda-trace/report/report_times.h"
#include "libcupti-usdt/probes.h"

struct gpu_row {
	int64_t start, end, device, context, stream, correlation, global, pid;
};

/* False for a row whose times are no span: it is counted instead. */
static bool is_span(struct timeline *timeline, int64_t start, int64_t end)
{
	bool possible = report_times__are_possible(start, end);

	timeline->invalid += !possible;
	return possible;
}

/* All tables of work on a GPU begin with the same columns. False for no span. */
static bool read_gpu_row(struct timeline *timeline, const union record_row *row,
			 struct gpu_row *gpu)
{
	*gpu = (struct gpu_row){
		.start = row->GRAPH.start,
		.end = row->GRAPH.end,
		.device = row->GRAPH.deviceId,
		.context = row->GRAPH.contextId,
		.stream = row->GRAPH.streamId,
		.correlation = row->GRAPH.correlationId,
		.global = row->GRAPH.globalPid,
	};
	gpu->pid = timeline__device_pid(timeline, gpu->global, gpu->device);
	return is_span(timeline, gpu->start, gpu->end);
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

/* Products of a hostile file's numbers may be larger than a number can be. */
static int64_t product(const int64_t size[3])
{
	int64_t all = 1;

	for (int i = 0; i < 3; i++)
		if (size[i] < 0 || __builtin_mul_overflow(all, size[i], &all))
			return 0;
	return all;
}

static int64_t number_of_gpu(const struct timeline *timeline, const char *column, int64_t device)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT %s FROM TARGET_INFO_GPU WHERE id = %" PRId64 " LIMIT 1",
		 column, device);
	return report_file__number(timeline->file, sql, 0);
}

/* What occupancy depends on; 0 where the file does not say. */
static const struct timeline_gpu *gpu_of(struct timeline *timeline, int64_t device)
{
	struct timeline_gpu *gpu = &timeline->gpus[(uint64_t)device % TIMELINE_GPUS];

	if (gpu->is_known && gpu->device == device)
		return gpu;
	*gpu = (struct timeline_gpu){.is_known = true, .device = device};
	if (report_file__has(timeline->file, "TARGET_INFO_GPU", "computeMinor")) {
		gpu->multiprocessors = number_of_gpu(timeline, "smCount", device);
		gpu->capability =
			number_of_gpu(timeline, "computeMajor * 10 + computeMinor", device);
	}
	return gpu;
}

static int64_t shared_memory(const union record_row *row)
{
	return report_times__sum(row->KERNEL.staticSharedMemory, row->KERNEL.dynamicSharedMemory);
}

/* How the launch fills the GPU: means over its multiprocessors, as Kineto has them. */
static void put_share(struct timeline *timeline, const union record_row *row)
{
	const struct timeline_gpu *gpu = gpu_of(timeline, row->KERNEL.deviceId);
	const int64_t grid[] = {row->KERNEL.gridX, row->KERNEL.gridY, row->KERNEL.gridZ};
	const int64_t block[] = {row->KERNEL.blockX, row->KERNEL.blockY, row->KERNEL.blockZ};
	const struct occupancy_launch launch = {
		.blocks = product(grid),
		.threads = product(block),
		.registers = row->KERNEL.registersPerThread,
		.shared = shared_memory(row),
	};
	double blocks = gpu->multiprocessors > 0 ? (double)launch.blocks / gpu->multiprocessors : 0;
	char factors[OCCUPANCY_FACTORS];
	struct occupancy occupancy;

	if (gpu->multiprocessors > 0)
		fprintf(timeline->out, ", \"blocks per SM\": %.6g, \"warps per SM\": %.6g", blocks,
			blocks * launch.threads / 32);
	if (!occupancy__of(&launch, gpu->capability, gpu->multiprocessors, &occupancy))
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

static void put_kernel(struct timeline *timeline, const union record_row *row)
{
	struct gpu_row gpu;

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	timeline__put_span(timeline, "kernel",
			   export_names__string(timeline->names, row->KERNEL.demangledName),
			   gpu.pid, gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	fprintf(timeline->out,
		", \"queued\": 0, \"registers per thread\": %" PRId64
		", \"shared memory\": %" PRId64 ", \"grid\": [%" PRId64 ", %" PRId64 ", %" PRId64
		"], \"block\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]",
		row->KERNEL.registersPerThread, shared_memory(row), row->KERNEL.gridX,
		row->KERNEL.gridY, row->KERNEL.gridZ, row->KERNEL.blockX, row->KERNEL.blockY,
		row->KERNEL.blockZ);
	put_share(timeline, row);
	if (row->KERNEL.graphNodeId)
		fprintf(timeline->out, ", \"graph id\": %" PRId64 ", \"graph node id\": %" PRId64,
			row->KERNEL.graphId, row->KERNEL.graphNodeId);
	timeline__put_origins(timeline, row);
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
static void put_peer_args(struct timeline *timeline, const struct gpu_row *gpu,
			  const union record_row *row)
{
	fprintf(timeline->out,
		", \"args\": {\"fromDevice\": %" PRId64 ", \"inDevice\": %" PRId64
		", \"toDevice\": %" PRId64 ", \"fromContext\": %" PRId64 ", \"inContext\": %" PRId64
		", \"toContext\": %" PRId64 ", \"stream\": %" PRId64 ", \"correlation\": %" PRId64,
		row->MEMCPY.srcDeviceId, gpu->device, row->MEMCPY.dstDeviceId,
		row->MEMCPY.srcContextId, gpu->context, row->MEMCPY.dstContextId, gpu->stream,
		gpu->correlation);
}

/* Of copies and memsets the node is known, but not the graph. */
static void put_node(struct timeline *timeline, int64_t node)
{
	if (node)
		fprintf(timeline->out, ", \"graph node id\": %" PRId64, node);
}

static void put_memcpy(struct timeline *timeline, const union record_row *row)
{
	static const char *const kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH",
					    "AtoA",    "AtoD", "DtoA", "DtoD", "HtoH",
					    "PtoP",    "HtoD", "DtoH", "DtoD"};
	int64_t kind = row->MEMCPY.copyKind;
	struct gpu_row gpu;
	char name[96];

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)",
		 kinds[kind > 0 && kind < 14 ? kind : 0], memory_name(row->MEMCPY.srcKind),
		 memory_name(row->MEMCPY.dstKind));
	timeline__put_span(timeline, "gpu_memcpy", name, gpu.pid, gpu.stream, gpu.start, gpu.end);
	if (kind == 10)
		put_peer_args(timeline, &gpu, row);
	else
		put_gpu_args(timeline, &gpu);
	put_bandwidth(timeline, &gpu, row->MEMCPY.bytes);
	put_node(timeline, row->MEMCPY.graphNodeId);
	end_gpu_row(timeline, &gpu);
}

static void put_memset(struct timeline *timeline, const union record_row *row)
{
	struct gpu_row gpu;
	char name[64];

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	snprintf(name, sizeof(name), "Memset (%s)", memory_name(row->MEMSET.memKind));
	timeline__put_span(timeline, "gpu_memset", name, gpu.pid, gpu.stream, gpu.start, gpu.end);
	put_gpu_args(timeline, &gpu);
	put_bandwidth(timeline, &gpu, row->MEMSET.bytes);
	put_node(timeline, row->MEMSET.graphNodeId);
	end_gpu_row(timeline, &gpu);
}

static void put_graph(struct timeline *timeline, const union record_row *row)
{
	struct gpu_row gpu;
	char name[64];

	if (!read_gpu_row(timeline, row, &gpu))
		return;
	snprintf(name, sizeof(name), "CUDA graph %" PRId64, row->GRAPH.graphExecId);
	timeline__put_span(timeline, "gpu_user_annotation", name, gpu.pid, gpu.stream, gpu.start,
			   gpu.end);
	put_gpu_args(timeline, &gpu);
	fprintf(timeline->out, ", \"graph id\": %" PRId64, row->GRAPH.graphExecId);
	end_gpu_row(timeline, &gpu);
}

static void put_sync(struct timeline *timeline, const union record_row *row)
{
	static const char *const kinds[] = {"Unknown", "Event Sync", "Stream Wait Event",
					    "Stream Sync", "Context Sync"};
	int64_t kind = row->SYNC.syncType;
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
		fprintf(timeline->out, ", \"wait_on_cuda_event_id\": %" PRId64, row->SYNC.eventId);
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

static void note_runtime_call(struct timeline *timeline, const union record_row *row)
{
	if (!begins_flow(export_names__string(timeline->names, row->RUNTIME.nameId)))
		return;
	if (timeline->runtime_count == MAX_RUNTIME_CALLS ||
	    !array_grow__for_one(timeline->runtime_calls, timeline->runtime_capacity,
				 timeline->runtime_count))
		return;
	timeline->runtime_calls[timeline->runtime_count++] =
		timeline__flow_id(timeline, row->RUNTIME.globalTid, row->RUNTIME.correlationId);
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

/* Which call it was: by number, or by its own name where it has another here. */
static void put_identity(struct timeline *timeline, int64_t class, const char *named,
			 const char *other)
{
	unsigned int cbid =
		store__call_number(class ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME, named);

	if (other) {
		fputs(", ", timeline->out);
		timeline__put_string(timeline, "recorded as", named);
	} else if (cbid) {
		fprintf(timeline->out, ", \"cbid\": %u", cbid);
	}
}

static void put_call(struct timeline *timeline, const union record_row *row)
{
	int64_t start = row->RUNTIME.start, end = row->RUNTIME.end;
	int64_t class = row->RUNTIME.eventClass, global = row->RUNTIME.globalTid;
	int64_t correlation = row->RUNTIME.correlationId;
	int64_t chain = row->RUNTIME.callchainId;
	int64_t pid = global >> 24 & 0xffffff, tid = global & 0xffffff;
	const char *named, *other;
	uint32_t node;
	char name[256];

	if (!is_span(timeline, start, end))
		return;
	if (is_inner(timeline, class, global, correlation))
		return;
	named = export_names__string(timeline->names, row->RUNTIME.nameId);
	other = class && timeline->file->runtime_names ? export_runtime_names__of(named) : NULL;
	plain_call(name, sizeof(name), other ? other : named);
	timeline__put_span(timeline, class && !other ? "cuda_driver" : "cuda_runtime", name, pid,
			   tid, start, end);
	fprintf(timeline->out, ", \"args\": {\"correlation\": %" PRId64, correlation);
	put_identity(timeline, class, named, other);
	if (row->RUNTIME.returnValue)
		fprintf(timeline->out, ", \"result\": %" PRId64, row->RUNTIME.returnValue);
	if (chain != DB_NULL)
		put_stack(timeline, chain);
	putc('}', timeline->out);
	node = chain != DB_NULL ? timeline__stack_node(timeline, chain) : 0;
	if (node)
		fprintf(timeline->out, ", \"sf\": \"%" PRIu32 "\"", node);
	putc('}', timeline->out);
	if (correlation && begins_flow(name))
		timeline__put_flow(timeline, true, timeline__flow_id(timeline, global, correlation),
				   pid, tid, start);
}

static void put_overhead(struct timeline *timeline, const union record_row *row)
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
	int64_t start = row->OVERHEAD.start, end = row->OVERHEAD.end;
	int64_t kind = row->OVERHEAD.overheadType;

	if (!is_span(timeline, start, end))
		return;
	timeline__put_span(timeline, "overhead", names[kind > 0 && kind < 10 ? kind : 0], -1,
			   row->OVERHEAD.globalTid & 0xffffff, start, end);
	fputs("}", timeline->out);
}

/* A table that the file lacks is no error: not every recording has everything. */
static int put_rows(struct timeline *timeline, enum db_table table, const char *source,
		    void (*put)(struct timeline *, const union record_row *))
{
	int64_t values[RECORD_COLUMNS_MAX];
	struct record_selection selection;
	sqlite3_stmt *statement = NULL;
	union record_row row;
	char *sql;
	int code, err;

	err = record_columns__select(timeline->file->db, table, source, COLUMN_STORED, &selection,
				     &sql);
	if (err)
		return err == -ENOENT ? 0 : err;
	code = sqlite3_prepare_v2(timeline->file->db, sql, -1, &statement, NULL);
	sqlite3_free(sql);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(statement);
		if (code != SQLITE_ROW)
			break;
		for (int i = 0; i < selection.count; i++)
			values[i] = sqlite3_column_int64(statement, i);
		record_columns__from_row(&selection, values, 0, &row, NULL);
		put(timeline, &row);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : report_file__complain(timeline->file);
}

int timeline__put_all_rows(struct timeline *timeline)
{
	static const struct {
		enum db_table table;
		void (*put)(struct timeline *, const union record_row *);
	} tables[] = {
		{DB_RUNTIME, put_call},	     {DB_KERNEL, put_kernel}, {DB_MEMCPY, put_memcpy},
		{DB_MEMSET, put_memset},     {DB_GRAPH, put_graph},   {DB_SYNC, put_sync},
		{DB_OVERHEAD, put_overhead},
	};
	int err = put_rows(timeline, DB_RUNTIME, "CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 0",
			   note_runtime_call);

	if (timeline->runtime_count)
		qsort(timeline->runtime_calls, timeline->runtime_count,
		      sizeof(*timeline->runtime_calls), by_id);
	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(tables[0]); i++)
		err = put_rows(timeline, tables[i].table, record_tables[tables[i].table].name,
			       tables[i].put);
	return err ? err : timeline__put_ranges(timeline);
}
