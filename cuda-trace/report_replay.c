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

static void play_kernel(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_kernel kernel = {
		.head = {CUDA_RECORD_KERNEL, sizeof(kernel), sqlite3_column_int64(row, 1)},
		.start = sqlite3_column_int64(row, 2),
		.end = sqlite3_column_int64(row, 3),
		.name = name_of(replay, process, sqlite3_column_int64(row, 4)),
		.device = sqlite3_column_int(row, 5),
		.stream = sqlite3_column_int(row, 6),
		.graph_node = sqlite3_column_int64(row, 13),
	};

	for (int i = 0; i < 3; i++) {
		kernel.grid[i] = sqlite3_column_int64(row, 7 + i);
		kernel.block[i] = sqlite3_column_int64(row, 10 + i);
	}
	if (kernel.end >= kernel.start)
		play(replay, process, &kernel.head);
}

/* Our files count launches by kernel; what was one record each is played as often. */
static void play_launches(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	bool graph = sqlite3_column_int(row, 2);
	int64_t launches = sqlite3_column_int64(row, 3), failed = sqlite3_column_int64(row, 4);
	struct cuda_launch launch = {
		.head = {graph ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH, sizeof(launch), 0},
		.name = name_of(replay, process, sqlite3_column_int64(row, 1)),
		.domain = sqlite3_column_int(row, 5) ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME,
	};

	/* More than there are rows of calls is a lie of the file, and would play for ever. */
	for (int64_t i = 0; i < launches && i < (1ll << 32); i++) {
		launch.result = i < failed ? 1 : 0;
		play(replay, process, &launch.head);
	}
}

/* Other files: every launching call, without the kernel's name. */
static void play_call(struct replay *replay, sqlite3_stmt *row, size_t process)
{
	struct cuda_launch launch = {
		.head = {sqlite3_column_int(row, 5) ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH,
			 sizeof(launch), sqlite3_column_int64(row, 1)},
		.start = sqlite3_column_int64(row, 2),
		.end = sqlite3_column_int64(row, 3),
		.result = sqlite3_column_int(row, 4),
		.domain = CUDA_DOMAIN_DRIVER,
	};

	play(replay, process, &launch.head);
}

static int play_rows(struct replay *replay, const char *sql,
		     void (*row)(struct replay *, sqlite3_stmt *, size_t))
{
	sqlite3_stmt *statement;
	int code, err = 0;

	if (sqlite3_prepare_v2(replay->file->db, sql, -1, &statement, NULL))
		return report_file__complain(replay->file);
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		ssize_t process = find_process(replay, sqlite3_column_int64(statement, 0));

		if (process < 0)
			err = process;
		else
			row(replay, statement, process);
	}
	sqlite3_finalize(statement);
	return err ? err : code == SQLITE_DONE ? 0 : report_file__complain(replay->file);
}

static int play_all(struct replay *replay)
{
	const struct report_file *file = replay->file;
	int err = 0;

	if (report_file__has(file, "CUDA_TRACE_PROCESSES", NULL)) {
		sqlite3_stmt *statement;

		if (sqlite3_prepare_v2(file->db, "SELECT globalPid FROM CUDA_TRACE_PROCESSES", -1,
				       &statement, NULL))
			return report_file__complain(file);
		while (sqlite3_step(statement) == SQLITE_ROW)
			find_process(replay, sqlite3_column_int64(statement, 0));
		sqlite3_finalize(statement);
	}
	if (report_file__has(file, "CUDA_TRACE_LAUNCHES", NULL))
		err = play_rows(replay,
				"SELECT globalPid, nameId, graph, launches, failed, eventClass "
				"FROM CUDA_TRACE_LAUNCHES",
				play_launches);
	else if (report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", NULL))
		err = play_rows(replay,
				"SELECT globalTid, correlationId, start, end, returnValue, "
				"value LIKE '%GraphLaunch%' "
				"FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId "
				"WHERE value LIKE '%LaunchKernel%' OR value LIKE '%GraphLaunch%' "
				"OR value LIKE '%LaunchCooperative%'",
				play_call);
	if (!err && report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", NULL))
		err = play_rows(replay,
				"SELECT globalPid, correlationId, start, end, demangledName, "
				"deviceId, streamId, gridX, gridY, gridZ, blockX, blockY, blockZ, "
				"graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL",
				play_kernel);
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
		if (!err && sink->process_end)
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
