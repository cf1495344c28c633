// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/report/report_idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/capture/record_times.h"
#include "cuda-trace/report/report_reader.h"
#include "cuda-trace/report/report_records.h"
#include "cuda-trace/report/report_strings.h"

#define AHEAD_NS 1000000000 /* an operation and what led to it */

enum state_column {
	OF,
	START,
	END,
	STATE,
	CAUSE,
	WAITS_FOR,
	FUNCTION,
	OFF,
	DELAY,
	BY,
	WAKER,
	RIVAL
};
enum call_column { CALLER, BEGAN, RETURNED, CORRELATION, NAME, CONTEXT, FAILED };
enum { LOST = 5 }; /* ENUM_CUDA_TRACE_THREAD_STATE */

struct report_idle {
	struct idle *idle;
	struct reader *states, *calls;
	const int64_t *state, *call; /* the next row; NULL = there is none */
	char **strings;
	size_t string_count;
	char *missing; /* what the recorder said */
	idle_gap_handler handle;
	void *context;
};

static bool has_states(const struct report_file *file)
{
	return report_file__has(file, "CUDA_TRACE_THREAD_STATES", "waitsFor") &&
	       report_file__number(file,
				   "SELECT count(*) FROM META_DATA_CAPTURE WHERE name = "
				   "'THREAD_STATES'",
				   0) > 0;
}

/* What lies between kernels of windows or of ranges says nothing. */
const char *report_idle__unknown(const struct report_file *file)
{
	if (!has_states(file))
		return NULL;
	if (report_file__is_sample(file) &&
	    !report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "streamHandle"))
		return "with --sample, kernels between the windows are not recorded";
	if (report_file__number(file,
				"SELECT count(*) FROM META_DATA_CAPTURE WHERE name = 'WINDOWS'", 0))
		return "kernels outside of the requested ranges are not recorded";
	return NULL;
}

bool report_idle__any(const struct report_file *file)
{
	return has_states(file) && !report_idle__unknown(file);
}

static char *read_missing(const struct report_file *file)
{
	sqlite3_stmt *statement;
	char *missing = NULL;

	if (sqlite3_prepare_v2(file->db,
			       "SELECT value FROM META_DATA_CAPTURE WHERE name = 'THREAD_STATES'",
			       -1, &statement, NULL))
		return NULL;
	if (sqlite3_step(statement) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);

		if (text && strcmp(text, "complete"))
			missing = strdup(text);
	}
	sqlite3_finalize(statement);
	return missing;
}

#define CALLS(context)                                                                        \
	"SELECT globalTid, start, end, correlationId, nameId, " context ", returnValue FROM " \
	"CUPTI_ACTIVITY_KIND_RUNTIME WHERE launchName IS NULL AND end > start ORDER BY start"

static int open_readers(struct report_idle *idle, const struct report_file *file)
{
	static const char table[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
	int err = reader__open(&idle->states, file,
			       "SELECT globalTid, start, end, state, cause, waitsFor, function, "
			       "offNs, delayNs, wakerGlobalTid, waker, rival FROM "
			       "CUDA_TRACE_THREAD_STATES ORDER BY start");

	if (!err && report_file__has(file, table, "launchName"))
		err = reader__open(&idle->calls, file,
				   report_file__has(file, table, "contextId")
					   ? CALLS("coalesce(contextId, 0)")
					   : CALLS("0"));
	if (err)
		return err;
	idle->state = reader__next(idle->states);
	if (idle->calls)
		idle->call = reader__next(idle->calls);
	return 0;
}

int report_idle__open(struct report_idle **result, const struct report_file *file)
{
	struct report_idle *idle;
	int err = -ENOMEM;

	if (!report_idle__any(file))
		return 0;
	idle = calloc(1, sizeof(*idle));
	if (!idle)
		return -ENOMEM;
	idle->idle = idle__new(false);
	if (idle->idle && (!report_file__is_sample(file) || idle__sample(idle->idle)))
		err = report_strings__read(file, strndup, &idle->strings, &idle->string_count);
	if (!err)
		err = open_readers(idle, file);
	if (err) {
		report_idle__close(idle);
		return err;
	}
	idle->missing = read_missing(file);
	idle__replay(idle->idle, idle->state != NULL, idle->missing);
	*result = idle;
	return 0;
}

static void handle_gap(void *context, uint32_t pid, enum idle_cause cause, uint64_t from,
		       uint64_t to)
{
	const struct report_idle *idle = context;

	idle->handle(idle->context, pid, cause, from - REPLAY_EPOCH, to - REPLAY_EPOCH);
}

void report_idle__on_gap(struct report_idle *idle, idle_gap_handler handle, void *context)
{
	idle->handle = handle;
	idle->context = context;
	idle__on_gap(idle->idle, handle_gap, idle);
}

static const char *text_of(const struct report_idle *idle, int64_t id)
{
	return id > 0 && (size_t)id < idle->string_count && idle->strings[id] ? idle->strings[id]
									      : "";
}

static uint32_t pid_of(int64_t global)
{
	return global >> 24 & 0xffffff;
}

static void add_state(struct report_idle *idle, const int64_t *row)
{
	struct idle_past past = {
		.pid = pid_of(row[OF]),
		.tid = row[OF] & 0xffffff,
		.start = REPLAY_EPOCH + row[START],
		.end = REPLAY_EPOCH + row[END],
		.off_ns = row[OFF],
		.delay_ns = row[DELAY],
		.waker_pid = pid_of(row[BY]),
		.waker_tid = row[BY] & 0xffffff,
		.state = row[STATE],
		.cause = row[CAUSE] >= 0 && row[CAUSE] < IDLE_CAUSE_COUNT ? row[CAUSE] : 0,
		.text = text_of(idle, row[WAITS_FOR]),
		.function = text_of(idle, row[FUNCTION]),
		.waker = text_of(idle, row[WAKER]),
		.rival = text_of(idle, row[RIVAL]),
	};

	if (row[STATE] == LOST)
		idle__lost(idle->idle, past.start, past.end);
	else if (row[STATE] >= 0 && row[STATE] < LOST)
		idle__past(idle->idle, &past);
}

static void add_call(struct report_idle *idle, const int64_t *row)
{
	const struct idle_call call = {
		.start = REPLAY_EPOCH + row[BEGAN],
		.end = REPLAY_EPOCH + row[RETURNED],
		.correlation = row[CORRELATION],
		.name = row[NAME] > 0 ? row[NAME] : UINT32_MAX,
	};

	idle__call(idle->idle, pid_of(row[CALLER]), row[CALLER] & 0xffffff, &call,
		   text_of(idle, row[NAME]));
	if (!row[FAILED])
		idle__call_in(idle->idle, pid_of(row[CALLER]), row[CONTEXT], &call,
			      text_of(idle, row[NAME]));
}

/* What began before that. */
static void advance(struct report_idle *idle, int64_t until)
{
	for (; idle->state && idle->state[START] < until; idle->state = reader__next(idle->states))
		add_state(idle, idle->state);
	for (; idle->call && idle->call[BEGAN] < until; idle->call = reader__next(idle->calls))
		add_call(idle, idle->call);
}

void report_idle__record(struct report_idle *idle, struct process *process,
			 const struct cuda_record *record)
{
	struct record_interval interval;

	/* Calls have a table of their own, and failed ones another one. */
	if (!idle || record->kind == CUDA_RECORD_API)
		return;
	if (record_times__interval(record, &interval)) {
		advance(idle, interval.start - REPLAY_EPOCH + AHEAD_NS);
		idle__progress(idle->idle, interval.start);
	}
	idle__record(idle->idle, process, record);
}

void report_idle__waited(struct report_idle *idle, const struct collective_wait *wait)
{
	if (idle)
		idle__waited(idle->idle, wait);
}

void report_idle__end(struct report_idle *idle, struct process *process)
{
	if (!idle)
		return;
	advance(idle, INT64_MAX);
	idle__end(idle->idle, process);
}

const struct idle_sums *report_idle__finish(struct report_idle *idle)
{
	return idle ? idle__finish(idle->idle) : NULL;
}

int report_idle__close(struct report_idle *idle)
{
	int err, other;

	if (!idle)
		return 0;
	err = reader__close(idle->states);
	other = reader__close(idle->calls);
	idle__free(idle->idle);
	report_strings__free(idle->strings, idle->string_count);
	free(idle->missing);
	free(idle);
	return err ? err : other;
}
