// SPDX-License-Identifier: BSD-2-Clause
/*
 * A list by age of what is held, and a chain for each correlation. A runtime call waits for a tick
 * or two, in which the batches of all groups have come; a driver call for its runtime call.
 * Bounded: when it is full the oldest goes with its family; a driver call alone if its parent has
 * not come: it may never do so (lost, or the process was killed).
 */
#include "cuda-trace/capture/api_correlation.h"

#include <stdlib.h>

#define MAX   8192
#define HEADS 1024
#define NONE  UINT32_MAX

struct held {
	struct process *process;
	struct cuda_api call;
	uint32_t next; /* of the same hash, older ones last; or the next free one */
	uint32_t older, newer;
	uint32_t tick; /* when it came */
};

struct calls {
	calls_emit emit;
	void *context;
	uint32_t heads[HEADS];
	uint32_t oldest, newest, free, tick;
	struct held held[MAX];
};

struct calls *api_correlation__new(calls_emit emit, void *context)
{
	struct calls *calls = malloc(sizeof(*calls));

	if (!calls)
		return NULL;
	calls->emit = emit;
	calls->context = context;
	calls->oldest = calls->newest = NONE;
	calls->free = calls->tick = 0;
	for (uint32_t i = 0; i < HEADS; i++)
		calls->heads[i] = NONE;
	for (uint32_t i = 0; i < MAX; i++)
		calls->held[i].next = i + 1 < MAX ? i + 1 : NONE;
	return calls;
}

void api_correlation__free(struct calls *calls)
{
	free(calls);
}

static uint32_t *head(struct calls *calls, const struct process *process, uint32_t correlation)
{
	return &calls->heads[(correlation ^ process->pid * 2654435761u) % HEADS];
}

static void unlink_call(struct calls *calls, uint32_t index)
{
	struct held *held = &calls->held[index];
	uint32_t *link = head(calls, held->process, held->call.head.correlation);

	while (*link != index)
		link = &calls->held[*link].next;
	*link = held->next;
	if (held->older == NONE)
		calls->oldest = held->newer;
	else
		calls->held[held->older].newer = held->newer;
	if (held->newer == NONE)
		calls->newest = held->older;
	else
		calls->held[held->newer].older = held->older;
	held->next = calls->free;
	calls->free = index;
}

static void release_call(struct calls *calls, uint32_t index, const struct cuda_api *parent)
{
	struct held held = calls->held[index];

	unlink_call(calls, index);
	calls->emit(calls->context, held.process, &held.call, parent);
}

/* The driver call that began first: batches of several groups may come in any order. */
static uint32_t first_within(struct calls *calls, const struct process *process,
			     uint32_t correlation)
{
	uint32_t found = NONE;

	for (uint32_t i = *head(calls, process, correlation); i != NONE; i = calls->held[i].next) {
		const struct held *held = &calls->held[i];

		if (held->process == process && held->call.head.correlation == correlation &&
		    held->call.domain != CUDA_DOMAIN_RUNTIME &&
		    (found == NONE || held->call.start < calls->held[found].call.start))
			found = i;
	}
	return found;
}

/* With all that is within it. */
static void let_family_go(struct calls *calls, uint32_t index)
{
	struct held held = calls->held[index];

	release_call(calls, index, NULL);
	if (held.call.domain != CUDA_DOMAIN_RUNTIME)
		return;
	while ((index = first_within(calls, held.process, held.call.head.correlation)) != NONE)
		release_call(calls, index, &held.call);
}

/* The runtime call that made it, if it has come already; else itself. */
static uint32_t maker_of(struct calls *calls, uint32_t index)
{
	const struct held *made = &calls->held[index];
	uint32_t i = *head(calls, made->process, made->call.head.correlation);

	for (; i != NONE; i = calls->held[i].next)
		if (calls->held[i].process == made->process &&
		    calls->held[i].call.head.correlation == made->call.head.correlation &&
		    calls->held[i].call.domain == CUDA_DOMAIN_RUNTIME)
			return i;
	return index;
}

static void hold(struct calls *calls, struct process *process, const struct cuda_api *call)
{
	uint32_t *first = head(calls, process, call->head.correlation), index;
	struct held *held;

	if (calls->free == NONE)
		let_family_go(calls, maker_of(calls, calls->oldest));
	index = calls->free;
	held = &calls->held[index];
	calls->free = held->next;
	held->process = process;
	held->call = *call;
	held->tick = calls->tick;
	held->next = *first;
	*first = index;
	held->newer = NONE;
	held->older = calls->newest;
	if (calls->newest == NONE)
		calls->oldest = index;
	else
		calls->held[calls->newest].newer = index;
	calls->newest = index;
}

void api_correlation__take(struct calls *calls, struct process *process,
			   const struct cuda_api *call)
{
	if (call->domain == CUDA_DOMAIN_RUNTIME || call->flags & CUDA_API_NESTED)
		hold(calls, process, call);
	else
		calls->emit(calls->context, process, call, NULL);
}

/* The next of a kind in the list, from `index` on. */
static uint32_t next_runtime(const struct calls *calls, uint32_t index,
			     const struct process *process)
{
	while (index != NONE && (calls->held[index].call.domain != CUDA_DOMAIN_RUNTIME ||
				 (process && calls->held[index].process != process)))
		index = calls->held[index].newer;
	return index;
}

/* From the start each time: what went with one may have been the one after it. */
void api_correlation__tick(struct calls *calls)
{
	uint32_t index;

	while ((index = next_runtime(calls, calls->oldest, NULL)) != NONE &&
	       calls->tick - calls->held[index].tick >= 2)
		let_family_go(calls, index);
	calls->tick++;
}

void api_correlation__end(struct calls *calls, struct process *process)
{
	uint32_t index, newer;

	while ((index = next_runtime(calls, calls->oldest, process)) != NONE)
		let_family_go(calls, index);
	for (index = calls->oldest; index != NONE; index = newer) {
		newer = calls->held[index].newer;
		if (calls->held[index].process == process)
			release_call(calls, index, NULL);
	}
}
