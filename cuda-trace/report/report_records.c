// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows → records. Only what sums need is filled in: a record made here has no more truth than its
 * row. Ids of StringIds serve as ids of names.
 */
#include "cuda-trace/report/report_records.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/report/report_progress.h"
#include "cuda-trace/report/report_record_rows.h"
#include "cuda-trace/report/report_strings.h"

#define PID_OF(global) ((global) >> 24 & 0xffffff)
#define MAX_PROCESSES  65536
#define SHOW_EVERY     4096 /* rows */

static int64_t number_of(const struct replay *replay, int64_t row, const char *column)
{
	int64_t number = -1;
	sqlite3_stmt *statement;
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT %s FROM CUDA_TRACE_PROCESSES WHERE rowid = ?", column);
	if (!report_file__has(replay->file, "CUDA_TRACE_PROCESSES", column) ||
	    sqlite3_prepare_v2(replay->file->db, sql, -1, &statement, NULL))
		return -1;
	sqlite3_bind_int64(statement, 1, row);
	if (sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

/* Recordings of older versions have none. */
static void fill_rank(const struct replay *replay, struct process *process, int64_t row)
{
	int64_t rank = number_of(replay, row, "rank");

	process->rank.known = rank >= 0 && rank <= INT32_MAX;
	process->rank.rank = process->rank.known ? rank : 0;
	process->rank.local = number_of(replay, row, "localRank");
	process->rank.size = number_of(replay, row, "worldSize");
}

/* What the file says of this process, where it is one of ours. */
static void fill_process(const struct replay *replay, struct process *process, int64_t key)
{
	sqlite3_stmt *statement;
	const char *sql = report_file__has(replay->file, "CUDA_TRACE_PROCESSES", NULL)
				  ? "SELECT name, uid, cgroup, state, reason, cuptiVersion, "
				    "driverVersion, source = 'driver', coalesce(end, 0) FROM "
				    "CUDA_TRACE_PROCESSES WHERE rowid = ?"
				  : "SELECT name FROM PROCESSES WHERE rowid = ?";
	ssize_t row = key_index__find(&replay->rows, key);

	if (row < 0 || sqlite3_prepare_v2(replay->file->db, sql, -1, &statement, NULL))
		return;
	sqlite3_bind_int64(statement, 1, row);
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
			process->source = sqlite3_column_int(statement, 7) ? EVENT_SOURCE_DRIVER
									   : EVENT_SOURCE_AGENT;
			if (sqlite3_column_int64(statement, 8) > 0)
				process->ended_ns =
					REPLAY_EPOCH + sqlite3_column_int64(statement, 8);
		}
	}
	sqlite3_finalize(statement);
	fill_rank(replay, process, row);
}

/* Of a recording made with --sample: what the agent said of its windows. */
static void fill_sample(const struct replay *replay, struct process *process, int64_t key)
{
	struct cuda_status *status = &process->status;
	ssize_t row = key_index__find(&replay->samples, key);
	sqlite3_stmt *statement;

	if (row < 0 ||
	    sqlite3_prepare_v2(replay->file->db,
			       "SELECT start, onNs, periodNs, windows, openNs, watchedNs "
			       "FROM CUDA_TRACE_SAMPLES WHERE rowid = ?",
			       -1, &statement, NULL))
		return;
	sqlite3_bind_int64(statement, 1, row);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		status->sample_start = REPLAY_EPOCH + sqlite3_column_int64(statement, 0);
		status->sample_on_ms = sqlite3_column_int64(statement, 1) / 1000000;
		status->sample_every_ms = sqlite3_column_int64(statement, 2) / 1000000;
		status->sample_windows = sqlite3_column_int64(statement, 3);
		status->sample_open_ns = sqlite3_column_int64(statement, 4);
		status->time = status->sample_start + sqlite3_column_int64(statement, 5);
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
	if (!replay->processes[i] || !replay->known[i] || !key_index__add(&replay->index, key, i)) {
		process__free(replay->processes[i]);
		free(replay->known[i]);
		return -ENOMEM;
	}
	replay->count++;
	fill_process(replay, replay->processes[i], key);
	fill_sample(replay, replay->processes[i], key);
	if (replay->sink->process_start)
		replay->sink->process_start(replay->sink->context, replay->processes[i]);
	return i;
}

static ssize_t find_process(struct replay *replay, int64_t global)
{
	int64_t key = global & ~0xffffffll;
	ssize_t found;

	if (replay->count && replay->recent_key == key)
		return replay->recent;
	found = key_index__find(&replay->index, key);
	if (found < 0)
		found = add_process(replay, key);
	if (found >= 0) {
		replay->recent = found;
		replay->recent_key = key;
	}
	return found;
}

static int read_rows(struct replay *replay)
{
	bool ours = report_file__has(replay->file, "CUDA_TRACE_PROCESSES", NULL);
	int err = report_index__read(&replay->rows, replay->file,
				     ours ? "CUDA_TRACE_PROCESSES" : "PROCESSES", MAX_PROCESSES);

	if (!err && report_file__has(replay->file, "CUDA_TRACE_SAMPLES", NULL))
		err = report_index__read(&replay->samples, replay->file, "CUDA_TRACE_SAMPLES",
					 MAX_PROCESSES);
	return err;
}

static int open_sources(struct replay *replay, struct replay_source *sources, size_t count)
{
	const char *opened = "";

	for (size_t i = 0; i < count; i++) {
		struct replay_source *source = &sources[i];
		const char *table = report_record_rows__table(source);
		int err;

		if (!strcmp(opened, table))
			continue;
		err = report_file__any(replay->file, table);
		if (err < 0)
			return err;
		if (!err)
			continue;
		err = report_record_rows__open(replay, source);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		opened = table;
		source->row = reader__next(source->reader);
	}
	return 0;
}

/* All tables at once, the earliest row first: as near to the order of arrival as a file can be. */
static int play_in_order(struct replay *replay, struct replay_source *sources, size_t count)
{
	for (uint64_t rows = 1;; rows++) {
		struct replay_source *next = NULL;
		int64_t earliest = INT64_MAX;
		ssize_t process;

		for (size_t i = 0; i < count; i++) {
			if (sources[i].row && (!next || sources[i].row[1] < earliest)) {
				next = &sources[i];
				earliest = next->row[1];
			}
		}
		if (!next)
			return 0;
		process = find_process(replay, next->row[0]);
		if (process < 0)
			return process;
		report_record_rows__play(replay, next, process);
		next->row = reader__next(next->reader);
		if (rows % SHOW_EVERY == 0)
			progress__rows(replay->file->progress, SHOW_EVERY);
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

/* They are numbered from 1; what follows a hole is not looked at. */
static int read_shapes(struct replay *replay)
{
	struct reader *reader;
	const int64_t *row;
	int err;

	if (!report_file__has(replay->file, "CUDA_TRACE_LAUNCH_SHAPES", NULL))
		return 0;
	err = reader__open(&reader, replay->file,
			   "SELECT id, gridX, gridY, gridZ, blockX, blockY, blockZ, "
			   "dynamicSharedMemory FROM CUDA_TRACE_LAUNCH_SHAPES ORDER BY id");
	if (err)
		return err;
	while ((row = reader__next(reader)) && row[0] == (int64_t)replay->shape_count + 1) {
		struct cuda_launch *shape;

		if (!array_grow__counted(replay->shapes, replay->shape_count)) {
			err = -ENOMEM;
			break;
		}
		shape = &replay->shapes[replay->shape_count++];
		for (int i = 0; i < 3; i++) {
			shape->grid[i] = row[1 + i];
			shape->block[i] = row[4 + i];
		}
		shape->dynamic_shared = row[7];
	}
	return reader__close(reader) ? -EIO : err;
}

static int play_all(struct replay *replay)
{
	struct replay_source sources[REPLAY_SOURCES];
	size_t count = report_record_rows__sources(sources);
	int err = find_all_processes(replay);

	if (!err)
		err = read_shapes(replay);
	if (!err)
		err = open_sources(replay, sources, count);
	if (!err)
		err = play_in_order(replay, sources, count);
	progress__clear(replay->file->progress);
	for (size_t i = 0; i < count; i++) {
		int failed = reader__close(sources[i].reader);

		err = err ? err : failed;
	}
	return err;
}

int report_records__run(const struct report_file *file, const struct sink *sink)
{
	struct replay replay = {
		.file = file,
		.sink = sink,
		.processes = calloc(MAX_PROCESSES, sizeof(*replay.processes)),
		.known = calloc(MAX_PROCESSES, sizeof(*replay.known)),
	};
	struct session_lost_counts lost;
	int err = -ENOMEM;

	if (replay.processes && replay.known)
		err = report_strings__read(file, strndup, &replay.strings, &replay.string_count);
	if (!err)
		err = read_rows(&replay);
	replay.ranged = report_file__any(file, "NVTX_EVENTS") > 0;
	if (!err)
		err = play_all(&replay);
	report_record_ranges__end(&replay);
	report_records__lost(file, &lost);
	for (size_t i = 0; i < replay.count; i++) {
		/* Which ones is not recorded: those that kernels are missing of. */
		replay.processes[i]->killed = lost.session[SESSION_LOST_KILLED] != 0;
		if (sink->process_end)
			sink->process_end(sink->context, replay.processes[i]);
		process__free(replay.processes[i]);
		free(replay.known[i]);
	}
	report_strings__free(replay.strings, replay.string_count);
	free(replay.processes);
	free(replay.known);
	free(replay.shapes);
	key_index__free(&replay.index);
	key_index__free(&replay.rows);
	key_index__free(&replay.samples);
	report_record_ranges__free(&replay.ranges);
	return err;
}

void report_records__lost(const struct report_file *file, struct session_lost_counts *lost)
{
	static const char *const agent[] = {
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
			if (!strcmp(reason, agent[i]))
				lost->agent[i] += count;
		for (int i = 0; reason && i < SESSION_LOST_COUNT; i++)
			if (!strcmp(reason, session[i]))
				lost->session[i] += count;
	}
	sqlite3_finalize(statement);
	lost->total = losses__total(lost);
}

uint64_t report_records__duration(const struct report_file *file)
{
	int64_t duration = report_file__number(file, "SELECT duration FROM ANALYSIS_DETAILS", -1);

	if (duration < 0)
		duration = report_file__number(
			file, "SELECT max(end) - min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL", 0);
	return duration < 0 ? 0 : duration;
}
