// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/report/report_thread_states.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/report/report_times.h"

enum column { GLOBAL, START, END, STATE, WAITS_FOR, FUNCTION, OFF, DELAY, WAKER };
enum { RUNNABLE = 1, GIL = 4, LOST = 5 }; /* ENUM_CUDA_TRACE_THREAD_STATE */

struct lost_time {
	int64_t start, end;
};

struct states {
	struct lost_time *lost; /* by start */
	uint32_t lost_count, lost_capacity;
	void (*each)(void *context, const struct report_thread_span *span);
	void *context;
	struct report_thread_span last;
	bool any; /* there is a last one of this thread */
	uint64_t *invalid;
};

bool report_thread_states__any(const struct report_file *file)
{
	return report_file__has(file, "CUDA_TRACE_THREAD_STATES", "waitsFor") &&
	       report_file__number(file, "SELECT 1 FROM CUDA_TRACE_THREAD_STATES LIMIT 1", 0);
}

static bool is_lossy(const struct states *states, int64_t start, int64_t end)
{
	for (uint32_t i = 0; i < states->lost_count && states->lost[i].start < end; i++)
		if (states->lost[i].end > start)
			return true;
	return false;
}

static void put_between(const struct states *states, const struct report_thread_span *next)
{
	struct report_thread_span span = {
		.global = next->global,
		.start = states->last.end,
		.end = next->start,
	};
	bool lossy = is_lossy(states, span.start, span.end);

	span.state = lossy ? THREAD_UNKNOWN : THREAD_RUNNING;
	snprintf(span.name, sizeof(span.name), lossy ? "not known: waits were lost" : "running");
	states->each(states->context, &span);
}

/* Untrusted, whoever made the file. */
static const char *text_at(char *out, size_t size, sqlite3_stmt *row, enum column column, int most)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text__show(out, size, text ? text : "", most);
}

static void name_span(struct report_thread_span *span, int64_t state, const char *waits_for)
{
	if (span->state == THREAD_RUNNABLE)
		snprintf(span->name, sizeof(span->name), "runnable%s%.100s",
			 *span->other ? ": the CPU has " : "", span->other);
	else if (state == GIL)
		snprintf(span->name, sizeof(span->name), "blocked: the GIL");
	else
		snprintf(span->name, sizeof(span->name), "blocked%s%.140s", *waits_for ? ": " : "",
			 waits_for);
}

static void put_row(struct states *states, sqlite3_stmt *row)
{
	int64_t state = sqlite3_column_int64(row, STATE);
	struct report_thread_span span = {
		.global = sqlite3_column_int64(row, GLOBAL),
		.start = sqlite3_column_int64(row, START),
		.end = sqlite3_column_int64(row, END),
		.state = state == RUNNABLE ? THREAD_RUNNABLE : THREAD_BLOCKED,
		.off = sqlite3_column_int64(row, OFF),
		.runnable = sqlite3_column_int64(row, DELAY),
	};
	char text[320];

	if (states->last.global != span.global)
		states->any = false;
	if (!report_times__are_possible(span.start, span.end) ||
	    (states->any && span.start < states->last.end)) {
		++*states->invalid;
		return;
	}
	text_at(span.function, sizeof(span.function), row, FUNCTION, 150);
	text_at(span.other, sizeof(span.other), row, WAKER, 30);
	name_span(&span, state, text_at(text, sizeof(text), row, WAITS_FOR, 100));
	if (states->any && span.start > states->last.end)
		put_between(states, &span);
	states->each(states->context, &span);
	states->last = span;
	states->any = true;
}

static int read_lost(struct states *states, sqlite3_stmt *row)
{
	if (!array_grow__for_one(states->lost, states->lost_capacity, states->lost_count))
		return -ENOMEM;
	states->lost[states->lost_count++] = (struct lost_time){
		sqlite3_column_int64(row, START),
		sqlite3_column_int64(row, END),
	};
	return 0;
}

int report_thread_states__each(const struct report_file *file,
			       void (*each)(void *context, const struct report_thread_span *span),
			       void *context, uint64_t *invalid)
{
	struct states states = {.each = each, .context = context, .invalid = invalid};
	sqlite3_stmt *statement;
	int code, err = 0;

	if (!report_thread_states__any(file))
		return 0;
	/* Lost ones are of thread 0, and come first. */
	if (sqlite3_prepare_v2(
		    file->db,
		    "SELECT globalTid, start, end, state, w.value, f.value, offNs, delayNs, "
		    "o.value FROM CUDA_TRACE_THREAD_STATES LEFT JOIN StringIds AS w ON "
		    "w.id = waitsFor LEFT JOIN StringIds AS f ON f.id = function LEFT "
		    "JOIN StringIds AS o ON o.id = waker WHERE state BETWEEN 1 AND 5 "
		    "ORDER BY state = 5 DESC, 1, 2",
		    -1, &statement, NULL))
		return report_file__complain(file);
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (sqlite3_column_int64(statement, STATE) == LOST)
			err = read_lost(&states, statement);
		else
			put_row(&states, statement);
	}
	sqlite3_finalize(statement);
	free(states.lost);
	if (err)
		return err;
	return code == SQLITE_DONE ? 0 : report_file__complain(file);
}
