// SPDX-License-Identifier: BSD-2-Clause
/*
 * A runtime call waits for a tick or two, in which the batches of all groups have come; a driver
 * call for its runtime call. When the table is full, the oldest is emitted with its family; a
 * driver call alone if its parent has not come: it may never do so (lost, or the process was
 * killed).
 */
#include "cuda-trace/capture/api_correlation.h"

#include <stdlib.h>
#include "cuda-trace/capture/pending.h"

#define MAX 8192

struct waiting {
	struct pending_entry entry;
	struct cuda_api call;
	uint32_t tick; /* when it came */
};

struct calls {
	calls_emit emit;
	void *context;
	uint32_t tick;
	struct pending waiting;
};

struct calls *api_correlation__new(calls_emit emit, void *context)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->emit = emit;
	calls->context = context;
	if (!pending__init(&calls->waiting, MAX, sizeof(struct waiting)))
		return calls;
	free(calls);
	return NULL;
}

void api_correlation__free(struct calls *calls)
{
	if (!calls)
		return;
	pending__free(&calls->waiting);
	free(calls);
}

static void emit(struct calls *calls, struct waiting *which, const struct cuda_api *parent)
{
	struct waiting waiting = *which;

	pending__remove(&calls->waiting, which);
	calls->emit(calls->context, waiting.entry.process, &waiting.call, parent);
}

/* The driver call that began first: batches of several groups may come in any order. */
static struct waiting *first_within(struct calls *calls, const struct process *process,
				    uint32_t correlation)
{
	struct waiting *found = NULL, *i = pending__find(&calls->waiting, process, correlation);

	for (; i; i = pending__next(i))
		if (i->call.domain != CUDA_DOMAIN_RUNTIME &&
		    (!found || i->call.start < found->call.start))
			found = i;
	return found;
}

/* With all that is within it. */
static void emit_family(struct calls *calls, struct waiting *which)
{
	struct waiting of = *which, *within;

	emit(calls, which, NULL);
	if (of.call.domain != CUDA_DOMAIN_RUNTIME)
		return;
	while ((within = first_within(calls, of.entry.process, of.entry.correlation)))
		emit(calls, within, &of.call);
}

/* The runtime call that made it, if it has come already; else itself. */
static struct waiting *maker_of(struct calls *calls, struct pending_entry *made)
{
	struct waiting *i = pending__find(&calls->waiting, made->process, made->correlation);

	while (i && i->call.domain != CUDA_DOMAIN_RUNTIME)
		i = pending__next(i);
	return i ? i : (struct waiting *)made;
}

void api_correlation__add(struct calls *calls, struct process *process, const struct cuda_api *call)
{
	struct waiting *waiting;

	if (call->domain != CUDA_DOMAIN_RUNTIME && !(call->flags & CUDA_API_NESTED)) {
		calls->emit(calls->context, process, call, NULL);
		return;
	}
	waiting = pending__add(&calls->waiting, process, call->head.correlation);
	if (!waiting) {
		emit_family(calls, maker_of(calls, calls->waiting.oldest));
		waiting = pending__add(&calls->waiting, process, call->head.correlation);
	}
	waiting->call = *call;
	waiting->tick = calls->tick;
}

/* The oldest runtime call, of a process or (NULL) of any. */
static struct waiting *oldest_runtime(const struct calls *calls, const struct process *process)
{
	struct pending_entry *entry = calls->waiting.oldest;

	while (entry && (((struct waiting *)entry)->call.domain != CUDA_DOMAIN_RUNTIME ||
			 (process && entry->process != process)))
		entry = entry->newer;
	return (struct waiting *)entry;
}

/* From the start each time: what went with one may have been the one after it. */
void api_correlation__tick(struct calls *calls)
{
	struct waiting *waiting;

	while ((waiting = oldest_runtime(calls, NULL)) && calls->tick - waiting->tick >= 2)
		emit_family(calls, waiting);
	calls->tick++;
}

void api_correlation__end(struct calls *calls, struct process *process)
{
	struct pending_entry *entry, *newer;
	struct waiting *waiting;

	while ((waiting = oldest_runtime(calls, process)))
		emit_family(calls, waiting);
	for (entry = calls->waiting.oldest; entry; entry = newer) {
		newer = entry->newer;
		if (entry->process == process)
			emit(calls, (struct waiting *)entry, NULL);
	}
}
