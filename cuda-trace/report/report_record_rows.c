// SPDX-License-Identifier: BSD-2-Clause
/* One function for each kind of row, and the statements that read them. */
#include "cuda-trace/report/report_record_rows.h"
#include <string.h>
#include "cuda-trace/report/report_gpus.h"
#include "cuda-trace/base/names.h"
#include "cuda-trace/base/api_names.h"

/* A string as a name of that process: 0 where there is none. */
static uint32_t name_of(struct replay *replay, size_t process, int64_t string)
{
	uint8_t *known = replay->known[process];
	const char *text;

	if (string <= 0 || (size_t)string >= replay->string_count)
		return 0;
	text = replay->strings[string];
	if (text && !(known[string / 8] & 1 << string % 8)) {
		known[string / 8] |= 1 << string % 8;
		names__put(replay->processes[process]->names, string, text, strlen(text));
	}
	return string;
}

static void play(struct replay *replay, size_t process, const struct cuda_record *record)
{
	replay->sink->record(replay->sink->context, replay->processes[process], record);
}

static uint64_t time_at(const int64_t *row, int column)
{
	return REPLAY_EPOCH + row[column];
}

static void play_kernel(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_kernel kernel = {
		.head = {CUDA_RECORD_KERNEL, sizeof(kernel), row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.name = name_of(replay, process, row[4]),
		.device = row[5],
		.stream = row[6],
		.graph_node = row[13],
		.graph = row[13] != 0,
	};

	for (int i = 0; i < 3; i++) {
		kernel.grid[i] = row[7 + i];
		kernel.block[i] = row[10 + i];
	}
	if (kernel.end >= kernel.start)
		play(replay, process, &kernel.head);
}

/* By which call, where it failed: else nobody asks. */
static uint16_t call_number(const struct replay *replay, const int64_t *row)
{
	const char *name = NULL;

	if (row[4] && row[8] > 0 && (size_t)row[8] < replay->string_count)
		name = replay->strings[row[8]];
	return name ? store__call_number(row[5] ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME, name)
		    : 0;
}

static void play_launch(struct replay *replay, const int64_t *row, size_t process)
{
	bool graph = row[7];
	struct cuda_launch launch = {
		.head = {graph ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH, sizeof(launch),
			 row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.tid = row[0] & 0xffffff,
		.result = row[4],
		.domain = row[5] ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME,
		.name = name_of(replay, process, row[6]),
		.cbid = call_number(replay, row),
	};

	if (row[9] > 0 && (size_t)row[9] <= replay->shape_count) {
		const struct cuda_launch *shape = &replay->shapes[row[9] - 1];

		memcpy(launch.grid, shape->grid, sizeof(launch.grid));
		memcpy(launch.block, shape->block, sizeof(launch.block));
		launch.dynamic_shared = shape->dynamic_shared;
	}
	if (replay->ranged)
		launch.flags = CUDA_LAUNCH_RANGES |
			       report_record_ranges__depth(replay, row[0], launch.start) << 2;
	play(replay, process, &launch.head);
}

/* Nsight's numbers of kinds of memory back to CUPTI's; -1 = NULL. */
static uint8_t memory_kind(const int64_t *row, int column)
{
	int64_t kind = row[column];

	return kind < 0 || kind > 6 ? 0 : kind + 1;
}

static void play_memcpy(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_memcpy copy = {
		.head = {CUDA_RECORD_MEMCPY, sizeof(copy), row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.bytes = row[4],
		.copy_kind = row[5],
		.src_kind = memory_kind(row, 6),
		.dst_kind = memory_kind(row, 7),
		.device = row[8],
		.stream = row[9],
		.copies = row[10],
	};
	struct cuda_uvm migration = {
		.head = {CUDA_RECORD_UVM, sizeof(migration), 0},
		.start = copy.start,
		.end = copy.end,
		.value = copy.bytes,
		/* Copies of kind 11, 12, 13 are CUPTI's counters 1, 2, 8. */
		.counter = copy.copy_kind == 13 ? 8 : copy.copy_kind - 10,
	};

	play(replay, process, copy.copy_kind > 10 ? &migration.head : &copy.head);
}

static void play_memset(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_memset set = {
		.head = {CUDA_RECORD_MEMSET, sizeof(set), row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.bytes = row[4],
		.memory_kind = memory_kind(row, 5),
		.device = row[6],
	};

	play(replay, process, &set.head);
}

static void play_graph(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_graph graph = {
		.head = {CUDA_RECORD_GRAPH, sizeof(graph), row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.graph = row[4],
		.device = row[5],
	};

	play(replay, process, &graph.head);
}

static void play_sync(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_sync sync = {
		.head = {CUDA_RECORD_SYNC, sizeof(sync), row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.type = row[4],
	};

	play(replay, process, &sync.head);
}

static void play_memory(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_memory memory = {
		.head = {CUDA_RECORD_MEMORY, sizeof(memory), row[2]},
		.time = time_at(row, 1),
		.address = row[3],
		.bytes = row[4],
		.kind = memory_kind(row, 5),
		.operation = row[6] ? 2 : 1,
		.device = row[7],
		.context = row[8],
		.pool = row[9],
		.pool_size = row[10],
		.pool_used = row[11],
		.pool_type = 1,
	};

	play(replay, process, &memory.head);
}

static void play_pool(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_memory_pool pool = {
		.head = {CUDA_RECORD_MEMORY_POOL, sizeof(pool), row[2]},
		.time = time_at(row, 1),
		.device = row[3],
		.address = row[4],
		.operation = row[5],
		.type = row[6],
		.threshold = row[7],
		.size = row[8],
		.used = row[9],
	};

	play(replay, process, &pool.head);
}

static void play_context(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_context context = {
		.head = {CUDA_RECORD_CONTEXT, sizeof(context), 0},
		.context = row[2],
		.device = row[3],
		.parent = row[4],
		.green = row[5],
		.multiprocessors = row[6],
		.null_stream = row[7],
	};

	play(replay, process, &context.head);
}

static void play_stream(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_stream stream = {
		.head = {CUDA_RECORD_STREAM, sizeof(stream), 0},
		.context = row[2],
		.stream = row[3],
		.priority = row[4],
		.flag = row[5],
	};

	play(replay, process, &stream.head);
}

/* Only what tells GPUs apart. */
static void play_device(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_device device = {
		.head = {CUDA_RECORD_DEVICE, sizeof(device), 0},
		.device = row[2],
	};
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(replay->file->db,
			       "SELECT uuid FROM TARGET_INFO_CUDA_DEVICE WHERE rowid = ?", -1,
			       &statement, NULL))
		return;
	sqlite3_bind_int64(statement, 1, row[3]);
	if (sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_column_type(statement, 0) == SQLITE_TEXT) {
		report_gpus__parse_uuid(device.uuid,
					(const char *)sqlite3_column_text(statement, 0));
		play(replay, process, &device.head);
	}
	sqlite3_finalize(statement);
}

static void play_jit(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_jit jit = {
		.head = {CUDA_RECORD_JIT, sizeof(jit), row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.tid = row[0] & 0xffffff,
		.operation = row[4],
		.device = row[5],
	};

	play(replay, process, &jit.head);
}

static void play_overhead(struct replay *replay, const int64_t *row, size_t process)
{
	int64_t type = row[3];
	struct cuda_overhead overhead = {
		.head = {CUDA_RECORD_OVERHEAD, sizeof(overhead), 0},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.kind = type >= 3 && type < 10 ? (type - 2) << 16 : type == 2,
	};

	play(replay, process, &overhead.head);
}

static void play_range(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_nvtx range = {
		.head = {CUDA_RECORD_NVTX, sizeof(range), 0},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.text = name_of(replay, process, row[3]),
		.kind = row[4] == 60 ? 3 : 2,
		.tid = row[0] & 0xffffff,
		.domain = name_of(replay, process, row[5]),
	};

	if (range.kind == 2)
		report_record_ranges__begin(replay, process, row[0], &range);
	else
		play(replay, process, &range.head);
}

/* Columns 8 to 15: bytes or grid's x, address or y, the one other number or z, block, shared bytes,
 * kernel. */
static void fill_asked(struct cuda_api *call, const int64_t *row, uint32_t kernel)
{
	if (call->flags & CUDA_API_LAUNCH) {
		for (int i = 0; i < 3; i++) {
			call->arguments.launch.grid[i] = row[8 + i];
			call->arguments.launch.block[i] = row[11 + i];
		}
		call->arguments.launch.dynamic_shared = row[14];
		call->arguments.launch.kernel = kernel;
		return;
	}
	call->arguments.call.bytes = row[8];
	call->arguments.call.address = row[9];
	call->arguments.call.copy_kind = row[10];
	call->arguments.call.value = row[10];
	call->arguments.call.device = row[10];
}

static void play_failure(struct replay *replay, const int64_t *row, size_t process, bool asked)
{
	struct cuda_api call = {
		.head = {CUDA_RECORD_API, sizeof(call), row[3]},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.tid = row[0] & 0xffffff,
		.name = name_of(replay, process, row[4]),
		.result = row[5],
		.domain = row[6] ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME,
		.group = row[7] & 1 ? CUDA_GROUP_API_LAUNCH : CUDA_GROUP_API_OTHER,
		.flags = asked ? row[7] & ~1 : 0,
	};

	if (asked)
		fill_asked(&call, row, name_of(replay, process, row[15]));
	replay->processes[process]->group = CUDA_GROUP_API_ERROR;
	play(replay, process, &call.head);
}

static void play_error(struct replay *replay, const int64_t *row, size_t process)
{
	play_failure(replay, row, process, true);
}

/* Of a recording that says nothing of arguments. */
static void play_bare_error(struct replay *replay, const int64_t *row, size_t process)
{
	play_failure(replay, row, process, false);
}

static void play_uvm(struct replay *replay, const int64_t *row, size_t process)
{
	struct cuda_uvm uvm = {
		.head = {CUDA_RECORD_UVM, sizeof(uvm), 0},
		.start = time_at(row, 1),
		.counter = row[2],
		.value = row[3],
	};

	play(replay, process, &uvm.head);
}

/* These have a pid alone: of several processes that had it they are the first one's. */
#define OF_PROCESS                                                                   \
	"JOIN (SELECT pid, min(globalPid) AS globalPid FROM PROCESSES GROUP BY pid)" \
	" ON pid = processId"

const struct replay_source replay_sources[] = {
	/* Before the launches: of those that failed these know more, and the first one counts. */
	{"CUDA_TRACE_ERRORS",
	 "SELECT globalTid, start, end, correlationId, nameId, returnValue, eventClass, "
	 "launch + 2 * (bytes IS NOT NULL) + 4 * (address IS NOT NULL) + "
	 "8 * (copyKind IS NOT NULL) + 16 * (value IS NOT NULL) + 32 * (deviceId IS NOT NULL) + "
	 "64 * (kernelName IS NOT NULL OR gridX IS NOT NULL), "
	 "coalesce(bytes, gridX), coalesce(address, gridY), "
	 "coalesce(copyKind, value, deviceId, gridZ), blockX, blockY, blockZ, "
	 "dynamicSharedMemory, kernelName FROM CUDA_TRACE_ERRORS",
	 play_error, NULL, NULL},
	{"CUDA_TRACE_ERRORS",
	 "SELECT globalTid, start, end, correlationId, nameId, returnValue, eventClass, launch "
	 "FROM "
	 "CUDA_TRACE_ERRORS",
	 play_bare_error, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 "SELECT globalTid, start, end, correlationId, returnValue, eventClass, launchName, "
	 "launchName = 0, nameId, launchShape FROM CUPTI_ACTIVITY_KIND_RUNTIME "
	 "WHERE launchName IS NOT NULL",
	 play_launch, NULL, NULL},
	/* Recordings made before 2026-11-25. */
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 "SELECT globalTid, start, end, correlationId, returnValue, eventClass, kernelName, "
	 "kernelName = 0, nameId, launchShape FROM CUPTI_ACTIVITY_KIND_RUNTIME "
	 "WHERE kernelName IS NOT NULL AND EXISTS (SELECT 1 FROM CUDA_TRACE_PROCESSES)",
	 play_launch, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 "SELECT globalTid, start, end, correlationId, returnValue, 1, 0, value LIKE "
	 "'%GraphLaunch%', nameId, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = "
	 "nameId "
	 "WHERE "
	 "value LIKE '%LaunchKernel%' OR value LIKE '%GraphLaunch%' OR value LIKE "
	 "'%LaunchCooperative%'",
	 play_launch, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_KERNEL",
	 "SELECT globalPid, start, end, correlationId, demangledName, deviceId, streamId, gridX, "
	 "gridY, gridZ, blockX, blockY, blockZ, graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL",
	 play_kernel, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 "SELECT globalPid, start, end, correlationId, bytes, copyKind, coalesce(srcKind, -1), "
	 "coalesce(dstKind, -1), "
	 "deviceId, "
	 "streamId, copyCount FROM CUPTI_ACTIVITY_KIND_MEMCPY",
	 play_memcpy, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 "SELECT globalPid, start, end, correlationId, bytes, copyKind, coalesce(srcKind, -1), "
	 "coalesce(dstKind, -1), "
	 "deviceId, "
	 "streamId, 1 FROM CUPTI_ACTIVITY_KIND_MEMCPY",
	 play_memcpy, NULL, NULL},
	{"CUDA_TRACE_COPIES",
	 "SELECT globalPid, start, end, 0, bytes, copyKind, -1, -1, 4294967295, 0, copyCount "
	 "FROM CUDA_TRACE_COPIES",
	 play_memcpy, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
	 "SELECT globalPid, start, end, correlationId, bytes, coalesce(memKind, -1), "
	 "deviceId FROM CUPTI_ACTIVITY_KIND_MEMSET",
	 play_memset, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	 "SELECT globalPid, start, end, correlationId, graphExecId, deviceId FROM "
	 "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	 play_graph, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 "SELECT globalPid, start, end, correlationId, syncType FROM "
	 "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 play_sync, NULL, NULL},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS",
	 "SELECT globalPid, start, correlationId, address, bytes, coalesce(memKind, -1), "
	 "memoryOperationType, deviceId, contextId, localMemoryPoolAddress, localMemoryPoolSize, "
	 "localMemoryPoolUtilizedSize FROM CUDA_GPU_MEMORY_USAGE_EVENTS",
	 play_memory, NULL, NULL},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS",
	 "SELECT globalPid, start, correlationId, address, bytes, coalesce(memKind, -1), "
	 "memoryOperationType, deviceId, contextId, 0, 0, 0 FROM CUDA_GPU_MEMORY_USAGE_EVENTS",
	 play_memory, NULL, NULL},
	{"CUDA_GPU_MEMORY_POOL_EVENTS",
	 "SELECT globalPid, start, correlationId, deviceId, address, operationType, poolType, "
	 "localMemoryPoolReleaseThreshold, localMemoryPoolSize, localMemoryPoolUtilizedSize FROM "
	 "CUDA_GPU_MEMORY_POOL_EVENTS",
	 play_pool, NULL, NULL},
	/* Before all work. */
	{"TARGET_INFO_CUDA_DEVICE",
	 "SELECT globalPid, -4611686018427387904, cudaId, d.rowid FROM TARGET_INFO_CUDA_DEVICE AS "
	 "d "
	 "JOIN (SELECT pid AS p, min(globalPid) AS globalPid FROM PROCESSES GROUP BY pid) ON p = "
	 "d.pid",
	 play_device, NULL, NULL},
	{"TARGET_INFO_CUDA_CONTEXT_INFO",
	 "SELECT globalPid, 0, contextId, deviceId, parentContextId, isGreenContext, "
	 "numMultiprocessors, nullStreamId FROM TARGET_INFO_CUDA_CONTEXT_INFO " OF_PROCESS,
	 play_context, NULL, NULL},
	{"TARGET_INFO_CUDA_STREAM",
	 "SELECT globalPid, 0, contextId, streamId, priority, flag FROM "
	 "TARGET_INFO_CUDA_STREAM " OF_PROCESS,
	 play_stream, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_JIT",
	 "SELECT globalTid, start, end, correlationId, jitOperationType, deviceId FROM "
	 "CUPTI_ACTIVITY_KIND_JIT",
	 play_jit, NULL, NULL},
	{"CUPTI_ACTIVITY_KIND_OVERHEAD",
	 "SELECT globalTid, start, end, overheadType FROM CUPTI_ACTIVITY_KIND_OVERHEAD",
	 play_overhead, NULL, NULL},
	{"NVTX_EVENTS",
	 "SELECT globalTid, start, end, textId, eventType, domainId FROM NVTX_EVENTS WHERE "
	 "eventType IN (59, 60) AND end IS NOT NULL",
	 play_range, NULL, NULL},
	{"NVTX_EVENTS",
	 "SELECT globalTid, start, end, textId, eventType, 0 FROM NVTX_EVENTS WHERE eventType IN "
	 "(59, 60) AND end IS NOT NULL",
	 play_range, NULL, NULL},
	{"CUDA_TRACE_UNIFIED_MEMORY",
	 "SELECT globalPid, start, counter, value FROM CUDA_TRACE_UNIFIED_MEMORY", play_uvm, NULL,
	 NULL},
	{"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
	 "SELECT globalPid, start, 3, 1 FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS", play_uvm, NULL, NULL},
	{"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	 "SELECT globalPid, start, 4, numberOfPageFaults FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	 play_uvm, NULL, NULL},
};

const size_t replay_source_count = sizeof(replay_sources) / sizeof(replay_sources[0]);
_Static_assert(sizeof(replay_sources) / sizeof(replay_sources[0]) <= REPLAY_SOURCES, "room");
