// SPDX-License-Identifier: BSD-2-Clause
/*
 * What decides is the time at which a record begins, so that recorders on many machines begin at
 * the same moment, as exactly as their clocks agree, whenever their processes get a CPU.
 *
 * Ways to go wrong:
 * 1. The wall clock is set, or slewed, while the tool waits: its moment is converted to
 *    CLOCK_MONOTONIC, which records have, only once it has come. What arrives before that has
 *    happened before.
 * 2. The two clocks are read one after the other, and the tool is suspended in between: of several
 *    readings the shortest counts.
 * 3. Attaching takes until after the time: it begins as late, and the caller says so.
 */
#include "cuda-trace/capture/time_window.h"

#include <stdlib.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/capture/record_times.h"

#define READINGS 8

struct time_window {
	struct sink inner, outer;
	uint64_t wanted, length;
	struct time_window_begin begin; /* .monotonic 0 = it has not come */
};

/* How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. */
static uint64_t clocks_apart(void)
{
	uint64_t shortest = UINT64_MAX, apart = 0;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = monotonic__ns(), utc = realtime__ns();
		uint64_t took = monotonic__ns() - before;

		if (took >= shortest)
			continue;
		shortest = took;
		apart = utc - before - took / 2;
	}
	return apart;
}

void time_window__attached(struct time_window *window)
{
	uint64_t now = realtime__ns();

	if (now <= window->wanted)
		return;
	window->begin = (struct time_window_begin){
		.utc = now,
		.monotonic = now - clocks_apart(),
		.late_ns = now - window->wanted,
	};
}

bool time_window__has_begun(struct time_window *window)
{
	if (!window->begin.monotonic && realtime__ns() >= window->wanted)
		window->begin = (struct time_window_begin){
			.utc = window->wanted,
			.monotonic = window->wanted - clocks_apart(),
		};
	return window->begin.monotonic;
}

const struct time_window_begin *time_window__begin(const struct time_window *window)
{
	return &window->begin;
}

static bool contains(struct time_window *window, uint64_t time)
{
	return time_window__has_begun(window) && time >= window->begin.monotonic &&
	       (!window->length || time - window->begin.monotonic < window->length);
}

static void handle_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct time_window *window = context;
	uint64_t start, end;

	/* What has no time describes something. */
	if (record_times__is_of_graph(record) || !record_times__span(record, &start, &end) ||
	    contains(window, start))
		window->inner.record(window->inner.context, process, record);
}

static void handle_start(void *context, struct process *process)
{
	const struct sink *inner = &((struct time_window *)context)->inner;

	inner->process_start(inner->context, process);
}

static void handle_end(void *context, struct process *process)
{
	const struct sink *inner = &((struct time_window *)context)->inner;

	inner->process_end(inner->context, process);
}

static void handle_status(void *context, struct process *process)
{
	const struct sink *inner = &((struct time_window *)context)->inner;

	inner->process_status(inner->context, process);
}

static void handle_error(void *context, struct process *process, int code, const char *component,
			 const char *message)
{
	const struct sink *inner = &((struct time_window *)context)->inner;

	inner->process_error(inner->context, process, code, component, message);
}

/* Descriptions of frames are of no time. */
static void handle_stack(void *context, struct process *process, const struct event *event)
{
	struct time_window *window = context;

	if (event->kind == EVENT_CODE || record_times__is_stack_of_graph(event) ||
	    contains(window, event->time))
		window->inner.stack(window->inner.context, process, event);
}

/* A communicator may be older than what is called on it. */
static void handle_collective(void *context, struct process *process,
			      const struct event_collective *call,
			      const struct recorded_kernel *kernel)
{
	struct time_window *window = context;

	if (call->function > NCCL_GROUP_END || contains(window, call->time))
		window->inner.collective(window->inner.context, process, call, kernel);
}

struct time_window *time_window__new(uint64_t utc, uint64_t length, const struct sink *sink)
{
	struct time_window *window = calloc(1, sizeof(*window));

	if (!window)
		return NULL;
	window->wanted = utc;
	window->length = length;
	window->inner = *sink;
	window->outer = (struct sink){
		.context = window,
		.process_start = sink->process_start ? handle_start : NULL,
		.record = handle_record,
		.process_status = sink->process_status ? handle_status : NULL,
		.process_error = sink->process_error ? handle_error : NULL,
		.stack = sink->stack ? handle_stack : NULL,
		.collective = sink->collective ? handle_collective : NULL,
		.process_end = sink->process_end ? handle_end : NULL,
		.ends_last = sink->ends_last,
	};
	return window;
}

void time_window__free(struct time_window *window)
{
	free(window);
}

const struct sink *time_window__sink(const struct time_window *window)
{
	return &window->outer;
}
