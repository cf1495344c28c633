// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows → records. Only what sums need is filled in: a record made here has no more truth than its
 * row. Ids of StringIds serve as ids of names.
 */
#include "cuda-trace/report_replay.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/names.h"

#define PID_OF(global) ((global) >> 24 & 0xffffff)
#define MAX_PROCESSES  65536
#define MAX_STRINGS    (1 << 22)

struct replay {
	const struct report_file *file;
	const struct sink *sink;
	struct process **processes; /* in order of appearance */
	uint8_t **known;	    /* of each: bit per string that its names have */
	int64_t *keys;		    /* globalPid without its tid */
	size_t count;
	size_t recent;	/* the one that the last row was of */
	char **strings; /* StringIds by id */
	size_t string_count;
};

static int read_strings(struct replay *replay)
{
	int64_t most = report_file__number(replay->file, "SELECT max(id) FROM StringIds", 0);
	sqlite3_stmt *statement;
	int code;

	if (most < 0 || most >= MAX_STRINGS)
		most = MAX_STRINGS - 1;
	replay->string_count = most + 1;
	replay->strings = calloc(replay->string_count, sizeof(*replay->strings));
	if (!replay->strings)
		return -ENOMEM;
	if (sqlite3_prepare_v2(replay->file->db, "SELECT id, value FROM StringIds", -1, &statement,
			       NULL))
		return report_file__complain(replay->file);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(statement, 0);
		const char *text = (const char *)sqlite3_column_text(statement, 1);

		if (id >= 0 && id <= most && text && !replay->strings[id])
			replay->strings[id] = strdup(text);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : report_file__complain(replay->file);
}

/* What the file says of this process, where it is one of ours. */
static void fill_process(const struct replay *replay, struct process *process, int64_t key)
{
	sqlite3_stmt *statement;
	const char *sql = report_file__has(replay->file, "CUDA_TRACE_PROCESSES", NULL)
				  ? "SELECT name, uid, cgroup, state, reason, cuptiVersion, "
				    "driverVersion, holder, message FROM CUDA_TRACE_PROCESSES "
				    "WHERE globalPid = ?"
				  : "SELECT name FROM PROCESSES WHERE globalPid = ?";

	if (sqlite3_prepare_v2(replay->file->db, sql, -1, &statement, NULL))
		return;
	sqlite3_bind_int64(statement, 1, key);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		struct cuda_status *status = &process->status;
		const char *name = (const char *)sqlite3_column_text(statement, 0);

		snprintf(process->comm, sizeof(process->comm), "%s", name ? name : "");
		if (sqlite3_column_count(statement) > 1) {
			process->uid = sqlite3_column_int64(statement, 1);
			process->cgroup = sqlite3_column_int64(statement, 2);
			status->version = sqlite3_column_type(statement, 3) != SQLITE_NULL;
			status->state = sqlite3_column_int(statement, 3);
			status->reason = sqlite3_column_int(statement, 4);
			status->cupti_version = sqlite3_column_int64(statement, 5);
			status->driver_version = sqlite3_column_int64(statement, 6);
		}
	}
	sqlite3_finalize(statement);
}

/* The index of a process; -ENOMEM. */
static ssize_t add_process(struct replay *replay, int64_t key)
{
	size_t i = replay->count;

	if (i == MAX_PROCESSES)
		return -ENOMEM;
	replay->processes[i] = process__new(PID_OF(key), key);
	replay->known[i] = calloc(1, replay->string_count / 8 + 1);
	if (!replay->processes[i] || !replay->known[i])
		return -ENOMEM;
	replay->keys[i] = key;
	replay->count++;
	fill_process(replay, replay->processes[i], key);
	if (replay->sink->process_start)
		replay->sink->process_start(replay->sink->context, replay->processes[i]);
	return i;
}

static ssize_t find_process(struct replay *replay, int64_t global)
{
	int64_t key = global & ~0xffffffll;

	if (replay->recent < replay->count && replay->keys[replay->recent] == key)
		return replay->recent;
	for (size_t i = 0; i < replay->count; i++) {
		if (replay->keys[i] == key) {
			replay->recent = i;
			return i;
		}
	}
	return add_process(replay, key);
}

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

/* A table being played. Column 0 is the process (or thread), 1 the time, the others the record's.
 */
struct source {
	const char *table, *sql;
	void (*play)(struct replay *replay, sqlite3_stmt *row, size_t process);
	sqlite3_stmt *row;
	bool waiting;	  /* a row is there */
	int64_t earliest; /* its time */
};

/* Times of a file may be negative; those of records are not. A day is enough for any session that
 * was running when the recording began. */
#define EPOCH (86400ull * 1000000000)

static uint64_t time_at(sqlite3_stmt *row, int column)
{
	return EPOCH + sqlite3_column_int64(row, column);
}

static void play_kernel(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_kernel kernel = {
		.head = {CUDA_RECORD_KERNEL, sizeof(kernel), sqlite3_column_int64(row, 3)},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.name = name_of(replay, process, sqlite3_column_int64(row, 4)),
		.device = sqlite3_column_int(row, 5),
		.stream = sqlite3_column_int(row, 6),
		.graph_node = sqlite3_column_int64(row, 13),
		.graph = sqlite3_column_int64(row, 13) != 0,
	};

	for (int i = 0; i < 3; i++) {
		kernel.grid[i] = sqlite3_column_int64(row, 7 + i);
		kernel.block[i] = sqlite3_column_int64(row, 10 + i);
	}
	if (kernel.end >= kernel.start)
		play(replay, process, &kernel.head);
}

static void play_launch(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	bool graph = sqlite3_column_int(row, 7);
	struct cuda_launch launch = {
		.head = {graph ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH, sizeof(launch),
			 sqlite3_column_int64(row, 3)},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.tid = sqlite3_column_int64(row, 0) & 0xffffff,
		.result = sqlite3_column_int(row, 4),
		.domain = sqlite3_column_int(row, 5) ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME,
		.name = name_of(replay, process, sqlite3_column_int64(row, 6)),
	};

	play(replay, process, &launch.head);
}

/* Nsight's numbers of kinds of memory back to CUPTI's. */
static uint8_t memory_kind(sqlite3_stmt *row, int column)
{
	int64_t kind = sqlite3_column_int64(row, column);

	return sqlite3_column_type(row, column) == SQLITE_NULL || kind < 0 || kind > 6 ? 0
										       : kind + 1;
}

static void play_memcpy(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_memcpy copy = {
		.head = {CUDA_RECORD_MEMCPY, sizeof(copy), sqlite3_column_int64(row, 3)},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.bytes = sqlite3_column_int64(row, 4),
		.copy_kind = sqlite3_column_int64(row, 5),
		.src_kind = memory_kind(row, 6),
		.dst_kind = memory_kind(row, 7),
		.device = sqlite3_column_int64(row, 8),
		.stream = sqlite3_column_int64(row, 9),
		.copies = sqlite3_column_int64(row, 10),
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

static void play_memset(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_memset set = {
		.head = {CUDA_RECORD_MEMSET, sizeof(set), sqlite3_column_int64(row, 3)},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.bytes = sqlite3_column_int64(row, 4),
		.memory_kind = memory_kind(row, 5),
	};

	play(replay, process, &set.head);
}

static void play_graph(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_graph graph = {
		.head = {CUDA_RECORD_GRAPH, sizeof(graph), sqlite3_column_int64(row, 3)},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.graph = sqlite3_column_int64(row, 4),
	};

	play(replay, process, &graph.head);
}

static void play_sync(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_sync sync = {
		.head = {CUDA_RECORD_SYNC, sizeof(sync), sqlite3_column_int64(row, 3)},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.type = sqlite3_column_int64(row, 4),
	};

	play(replay, process, &sync.head);
}

static void play_memory(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_memory memory = {
		.head = {CUDA_RECORD_MEMORY, sizeof(memory), sqlite3_column_int64(row, 2)},
		.time = time_at(row, 1),
		.address = sqlite3_column_int64(row, 3),
		.bytes = sqlite3_column_int64(row, 4),
		.kind = memory_kind(row, 5),
		.operation = sqlite3_column_int(row, 6) ? 2 : 1,
		.device = sqlite3_column_int64(row, 7),
		.context = sqlite3_column_int64(row, 8),
	};

	play(replay, process, &memory.head);
}

static void play_overhead(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	int64_t type = sqlite3_column_int64(row, 3);
	struct cuda_overhead overhead = {
		.head = {CUDA_RECORD_OVERHEAD, sizeof(overhead), 0},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.kind = type >= 3 && type < 9 ? (type - 2) << 16 : type == 2,
	};

	play(replay, process, &overhead.head);
}

static void play_range(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_nvtx range = {
		.head = {CUDA_RECORD_NVTX, sizeof(range), 0},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.text = name_of(replay, process, sqlite3_column_int64(row, 3)),
		.kind = sqlite3_column_int(row, 4) == 60 ? 3 : 2,
		.tid = sqlite3_column_int64(row, 0) & 0xffffff,
	};

	play(replay, process, &range.head);
}

static void play_error(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_api call = {
		.head = {CUDA_RECORD_API, sizeof(call), sqlite3_column_int64(row, 3)},
		.start = time_at(row, 1),
		.end = time_at(row, 2),
		.tid = sqlite3_column_int64(row, 0) & 0xffffff,
		.name = name_of(replay, process, sqlite3_column_int64(row, 4)),
		.result = sqlite3_column_int(row, 5),
		.domain = sqlite3_column_int(row, 6) ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME,
		.group = sqlite3_column_int(row, 7) ? CUDA_GROUP_API_LAUNCH : CUDA_GROUP_API_OTHER,
	};

	replay->processes[process]->group = CUDA_GROUP_API_ERROR;
	play(replay, process, &call.head);
}

static void play_uvm(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_uvm uvm = {
		.head = {CUDA_RECORD_UVM, sizeof(uvm), 0},
		.start = time_at(row, 1),
		.counter = sqlite3_column_int64(row, 2),
		.value = sqlite3_column_int64(row, 3),
	};

	play(replay, process, &uvm.head);
}

/* Where the first statement does not fit a file (other or older tables), the next is tried. */
static const struct source all_sources[] = {
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 "SELECT globalTid, start, end, correlationId, returnValue, eventClass, kernelName, "
	 "value LIKE '%GraphLaunch%' FROM CUPTI_ACTIVITY_KIND_RUNTIME LEFT JOIN StringIds ON "
	 "id = nameId WHERE kernelName IS NOT NULL",
	 play_launch, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 "SELECT globalTid, start, end, correlationId, returnValue, 1, 0, value LIKE "
	 "'%GraphLaunch%' FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE "
	 "value LIKE '%LaunchKernel%' OR value LIKE '%GraphLaunch%' OR value LIKE "
	 "'%LaunchCooperative%'",
	 play_launch, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_KERNEL",
	 "SELECT globalPid, start, end, correlationId, demangledName, deviceId, streamId, gridX, "
	 "gridY, gridZ, blockX, blockY, blockZ, graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL",
	 play_kernel, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 "SELECT globalPid, start, end, correlationId, bytes, copyKind, srcKind, dstKind, "
	 "deviceId, "
	 "streamId, copyCount FROM CUPTI_ACTIVITY_KIND_MEMCPY",
	 play_memcpy, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 "SELECT globalPid, start, end, correlationId, bytes, copyKind, srcKind, dstKind, "
	 "deviceId, "
	 "streamId, 1 FROM CUPTI_ACTIVITY_KIND_MEMCPY",
	 play_memcpy, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
	 "SELECT globalPid, start, end, correlationId, bytes, memKind FROM "
	 "CUPTI_ACTIVITY_KIND_MEMSET",
	 play_memset, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	 "SELECT globalPid, start, end, correlationId, graphExecId FROM "
	 "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	 play_graph, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 "SELECT globalPid, start, end, correlationId, syncType FROM "
	 "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 play_sync, NULL, false, 0},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS",
	 "SELECT globalPid, start, correlationId, address, bytes, memKind, memoryOperationType, "
	 "deviceId, contextId FROM CUDA_GPU_MEMORY_USAGE_EVENTS",
	 play_memory, NULL, false, 0},
	{"CUPTI_ACTIVITY_KIND_OVERHEAD",
	 "SELECT globalTid, start, end, overheadType FROM CUPTI_ACTIVITY_KIND_OVERHEAD",
	 play_overhead, NULL, false, 0},
	{"NVTX_EVENTS",
	 "SELECT globalTid, start, end, textId, eventType FROM NVTX_EVENTS WHERE eventType IN "
	 "(59, 60) AND end IS NOT NULL",
	 play_range, NULL, false, 0},
	{"CUDA_TRACE_ERRORS",
	 "SELECT globalTid, start, end, correlationId, nameId, returnValue, eventClass, launch "
	 "FROM "
	 "CUDA_TRACE_ERRORS",
	 play_error, NULL, false, 0},
	{"CUDA_TRACE_UNIFIED_MEMORY",
	 "SELECT globalPid, start, counter, value FROM CUDA_TRACE_UNIFIED_MEMORY", play_uvm, NULL,
	 false, 0},
	{"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
	 "SELECT globalPid, start, 3, 1 FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS", play_uvm, NULL, false,
	 0},
	{"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	 "SELECT globalPid, start, 4, numberOfPageFaults FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	 play_uvm, NULL, false, 0},
};

#define SOURCES (sizeof(all_sources) / sizeof(all_sources[0]))

static int step(struct replay *replay, struct source *source)
{
	int code = sqlite3_step(source->row);

	source->waiting = code == SQLITE_ROW;
	source->earliest = source->waiting ? sqlite3_column_int64(source->row, 1) : 0;
	return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : report_file__complain(replay->file);
}

static int open_sources(struct replay *replay, struct source *sources)
{
	const char *opened = "";
	int err = 0;

	memcpy(sources, all_sources, sizeof(all_sources));
	for (size_t i = 0; !err && i < SOURCES; i++) {
		struct source *source = &sources[i];

		if (!strcmp(opened, source->table) ||
		    !report_file__has(replay->file, source->table, NULL) ||
		    sqlite3_prepare_v2(replay->file->db, source->sql, -1, &source->row, NULL))
			continue;
		opened = source->table;
		err = step(replay, source);
	}
	return err;
}

/* All tables at once, the earliest row first: as near to the order of arrival as a file can be. */
static int play_in_order(struct replay *replay, struct source *sources)
{
	for (;;) {
		struct source *next = NULL;
		int64_t earliest = INT64_MAX;
		ssize_t process;
		int err;

		for (size_t i = 0; i < SOURCES; i++) {
			if (sources[i].waiting && (!next || sources[i].earliest < earliest)) {
				next = &sources[i];
				earliest = next->earliest;
			}
		}
		if (!next)
			return 0;
		process = find_process(replay, sqlite3_column_int64(next->row, 0));
		if (process < 0)
			return process;
		next->play(replay, next->row, process);
		err = step(replay, next);
		if (err)
			return err;
	}
}

static int find_all_processes(struct replay *replay)
{
	sqlite3_stmt *statement;

	if (!report_file__has(replay->file, "CUDA_TRACE_PROCESSES", NULL))
		return 0;
	if (sqlite3_prepare_v2(replay->file->db, "SELECT globalPid FROM CUDA_TRACE_PROCESSES", -1,
			       &statement, NULL))
		return report_file__complain(replay->file);
	while (sqlite3_step(statement) == SQLITE_ROW)
		find_process(replay, sqlite3_column_int64(statement, 0));
	sqlite3_finalize(statement);
	return 0;
}

static int play_all(struct replay *replay)
{
	struct source sources[SOURCES];
	int err = find_all_processes(replay);

	memset(sources, 0, sizeof(sources));
	if (!err)
		err = open_sources(replay, sources);
	if (!err)
		err = play_in_order(replay, sources);
	for (size_t i = 0; i < SOURCES; i++)
		sqlite3_finalize(sources[i].row);
	return err;
}

int report_replay__run(const struct report_file *file, const struct sink *sink)
{
	struct replay replay = {
		.file = file,
		.sink = sink,
		.processes = calloc(MAX_PROCESSES, sizeof(*replay.processes)),
		.known = calloc(MAX_PROCESSES, sizeof(*replay.known)),
		.keys = calloc(MAX_PROCESSES, sizeof(*replay.keys)),
	};
	int err = -ENOMEM;

	if (replay.processes && replay.known && replay.keys)
		err = read_strings(&replay);
	if (!err)
		err = play_all(&replay);
	for (size_t i = 0; i < replay.count; i++) {
		if (sink->process_end)
			sink->process_end(sink->context, replay.processes[i]);
		process__free(replay.processes[i]);
		free(replay.known[i]);
	}
	for (size_t i = 0; replay.strings && i < replay.string_count; i++)
		free(replay.strings[i]);
	free(replay.strings);
	free(replay.processes);
	free(replay.known);
	free(replay.keys);
	return err;
}

void report_replay__lost(const struct report_file *file, struct session_lost_counts *lost)
{
	static const char *const guest[] = {
#define LOST_KEY(name, key, text) key,
		CUDA_LOST_REASONS(LOST_KEY)};
	static const char *const session[] = {SESSION_LOST_REASONS(LOST_KEY)
#undef LOST_KEY
	};
	sqlite3_stmt *statement;

	memset(lost, 0, sizeof(*lost));
	if (sqlite3_prepare_v2(file->db, "SELECT reason, count, stage FROM CUDA_TRACE_LOST", -1,
			       &statement, NULL))
		return;
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *reason = (const char *)sqlite3_column_text(statement, 0);
		int64_t count = sqlite3_column_int64(statement, 1);
		const char *stage = (const char *)sqlite3_column_text(statement, 2);

		if (!stage || !strcmp(stage, "store"))
			continue;
		for (int i = 0; reason && i < CUDA_LOST_COUNT; i++)
			if (!strcmp(reason, guest[i]))
				lost->guest[i] += count;
		for (int i = 0; reason && i < SESSION_LOST_COUNT; i++)
			if (!strcmp(reason, session[i]))
				lost->session[i] += count;
	}
	sqlite3_finalize(statement);
	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		lost->total += lost->guest[i];
	for (int i = 0; i < SESSION_LOST_COUNT; i++)
		lost->total += i == SESSION_LOST_KILLED ? 0 : lost->session[i];
}

uint64_t report_replay__duration(const struct report_file *file)
{
	int64_t duration = report_file__number(file, "SELECT duration FROM ANALYSIS_DETAILS", -1);

	if (duration < 0)
		duration = report_file__number(
			file, "SELECT max(end) - min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL", 0);
	return duration < 0 ? 0 : duration;
}
