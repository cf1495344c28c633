// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traced processes control what comes: so many of them, and of each so many calls, are kept.
 * Replays of what was captured beyond have no lines.
 */
#include "cuda-trace/trace/trace_replays.h"

#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/collectives/collective_records.h"

#define CALLERS	 256U	/* processes that have called NCCL */
#define RECENT	 1024U	/* calls that may turn out to be captured */
#define CAPTURED 65536U /* calls in graphs */

struct issued_call {
	uint64_t issue; /* see collectives__call() */
	struct event_collective call;
};

/* A process that has called NCCL. */
struct caller {
	struct caller *next;
	struct trace_replays *replays;
	struct process *process;
	struct collectives *collectives;
	struct issued_call recent[RECENT]; /* a ring */
	uint64_t recent_count;		   /* so far */
	struct issued_call *captured;	   /* those of an issue one after the other */
	uint32_t captured_count, captured_capacity;
	struct key_index first; /* issue: its first call in `captured` */
};

struct trace_replays {
	trace_replays_put put;
	void *context;
	struct nccl_comms comms; /* the matching needs them */
	struct caller *callers;
	uint32_t count;
};

struct trace_replays *trace_replays__new(trace_replays_put put, void *context)
{
	struct trace_replays *replays = calloc(1, sizeof(*replays));

	if (!replays)
		return NULL;
	replays->put = put;
	replays->context = context;
	replays->comms.limits = (struct nccl_comm_limits){
		.comms = 1024, .ranks = 1024, .compared = 1, .waiting = 131072};
	return replays;
}

static void note_captured(void *context, uint64_t issue, uint64_t node)
{
	struct caller *caller = context;
	uint64_t i = caller->recent_count > RECENT ? caller->recent_count - RECENT : 0;
	uint32_t first = caller->captured_count;

	for (; i < caller->recent_count; i++) {
		const struct issued_call *recent = &caller->recent[i % RECENT];

		if (recent->issue != issue)
			continue;
		if (caller->captured_count == CAPTURED ||
		    !array_grow__for_one(caller->captured, caller->captured_capacity,
					 caller->captured_count))
			break;
		caller->captured[caller->captured_count++] = *recent;
	}
	if (caller->captured_count > first && !key_index__add(&caller->first, issue, first))
		caller->captured_count = first;
}

static void note_replayed(void *context, uint64_t issue, uint64_t number,
			  const struct cuda_kernel *kernel)
{
	const struct caller *caller = context;
	ssize_t i = key_index__find(&caller->first, issue);

	if (i < 0)
		caller->replays->comms.unknown_nodes++;
	for (; i >= 0 && i < caller->captured_count && caller->captured[i].issue == issue; i++)
		caller->replays->put(caller->replays->context, caller->process,
				     &caller->captured[i].call, kernel,
				     number ? (int64_t)graph_collectives__turn(number) : -1);
}

static struct caller **find(struct trace_replays *replays, const struct process *process)
{
	struct caller **link = &replays->callers;

	while (*link && (*link)->process != process)
		link = &(*link)->next;
	return link;
}

static struct caller *add(struct trace_replays *replays, struct process *process)
{
	struct caller *caller = replays->count < CALLERS ? calloc(1, sizeof(*caller)) : NULL;
	const struct collectives_options options = {
		.pid = process->pid,
		.rank = process->rank,
		.timed = true,
		.graphs = {.captured = note_captured, .replayed = note_replayed, .context = caller},
	};

	if (!caller)
		return NULL;
	caller->collectives = collectives__new(&replays->comms, &options);
	caller->replays = replays;
	caller->process = process;
	caller->next = replays->callers;
	replays->callers = caller;
	replays->count++;
	return caller;
}

void trace_replays__call(struct trace_replays *replays, struct process *process,
			 const struct event_collective *call)
{
	struct caller *caller = replays ? *find(replays, process) : NULL;
	uint64_t issue;

	if (replays && !caller)
		caller = add(replays, process);
	issue = caller ? collectives__call(caller->collectives, call) : 0;
	if (issue && nccl_calls__operation(call->function))
		caller->recent[caller->recent_count++ % RECENT] =
			(struct issued_call){issue, *call};
}

void trace_replays__record(struct trace_replays *replays, struct process *process,
			   const struct cuda_record *record)
{
	const struct cuda_kernel *kernel = (const struct cuda_kernel *)record;
	struct caller *caller = replays ? *find(replays, process) : NULL;

	if (caller)
		collective_records__put(caller->collectives, process, record);
	else if (replays && record->kind == CUDA_RECORD_KERNEL && kernel->graph &&
		 collectives__is_nccl(process__name(process, kernel->name)))
		replays->comms.unknown_nodes++;
}

uint64_t trace_replays__unknown(const struct trace_replays *replays)
{
	return replays ? replays->comms.unknown_nodes : 0;
}

void trace_replays__end(struct trace_replays *replays, const struct process *process)
{
	struct caller **link = replays ? find(replays, process) : NULL, *caller;

	if (!link || !*link)
		return;
	caller = *link;
	*link = caller->next;
	replays->count--;
	collectives__free(caller->collectives);
	nccl_comms__end(&replays->comms, process->pid, monotonic__ns());
	key_index__free(&caller->first);
	free(caller->captured);
	free(caller);
}

void trace_replays__free(struct trace_replays *replays)
{
	while (replays && replays->callers)
		trace_replays__end(replays, replays->callers->process);
	if (replays)
		nccl_comms__free(&replays->comms);
	free(replays);
}
