// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/idle/idle_waker.h"

#include <stdio.h>

void idle_waker__follow(const struct idle_known *known, const struct idle_span *span,
			struct idle_place *place)
{
	static const char *const did[IDLE_CAUSE_COUNT] = {
		[IDLE_CPU] = "was on the CPU",
		[IDLE_PREEMPTED] = "had to wait for a CPU",
		[IDLE_LOCK] = "waited for a lock",
		[IDLE_GIL_WAIT] = "waited for the GIL",
		[IDLE_PROCESS] = "waited for another one",
		[IDLE_CALL] = "was in a CUDA call",
		[IDLE_LAUNCH] = "launched",
		[IDLE_NO_WORK] = "waited for a request",
	};
	struct idle_timeline *timeline = known->timeline;
	uint64_t until =
		span->end - (span->delay_ns < span->end - span->start ? span->delay_ns : 0);
	/* It is sampled every 5 ms, and has held the GIL for longer than this thread waits. */
	uint64_t from = span->start - (place->cause == IDLE_GIL_WAIT ? IDLE_HOLDER_NS : 0);
	struct idle_host *host;
	struct idle_line *line;
	struct idle_path path = {};
	struct idle_weight *weight;
	char text[128];

	if (place->cause != IDLE_GIL_WAIT)
		place->waker = span->other;
	host = span->other_tid ? idle_timeline__host(timeline, span->other_pid) : NULL;
	line = host ? idle_timeline__line(timeline, host, span->other_tid, false) : NULL;
	if (!line)
		return;
	/* All threads of Python before 3.14 have their process's name. */
	if (place->cause == IDLE_GIL_WAIT) {
		snprintf(text, sizeof(text), "%s (thread %u)", span->other, span->other_tid);
		place->waker = idle_timeline__intern(timeline, text, sizeof(text));
	}
	idle_path__walk(&path, known, line, span->start, until);
	weight = idle_path__longest(&path);
	if (!weight)
		return;
	if (did[weight->cause])
		snprintf(text, sizeof(text), "%s", did[weight->cause]);
	else if (weight->cause == IDLE_SLEEP || weight->cause == IDLE_IO)
		snprintf(text, sizeof(text), "%s in %s",
			 weight->cause == IDLE_SLEEP ? "slept" : "waited for I/O", weight->text);
	else
		return;
	place->meanwhile = idle_timeline__intern(timeline, text, sizeof(text));
	if (weight->cause == IDLE_CPU)
		place->waker_function = idle_path__sampled(line, from, until);
	else if (weight->span)
		place->waker_function = weight->span->function;
}
