// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fears: 1. a device that nobody ever tells (all kernels are endless): there is a limit to the
 * time.
 * 2. a process that makes contexts all the time: there is a bound to what is kept. 3. names that
 * are gone when it is handed out: failed calls, which have some, are not kept.
 */
#include "cuda-trace/live/live_pending.h"

#include <stdlib.h>
#include "cuda-trace/live/live.h"
#include "cuda-trace/base/clock.h"

#define LONGEST_MS 3000
#define MOST	   256

struct live_held {
	struct live_held *next;
	bool is_shape;
	struct tally_key tally_key;
	struct shape_key shape_key;
	union {
		struct tally tally;
		struct shape shape;
	};
};

static bool is_told(const struct live_process *process, uint32_t context)
{
	return context >= AGGREGATE_CONTEXTS || process->state.device_of[context];
}

/* Room for one more, or NULL: it is not to be kept. */
static struct live_held *keep(struct live_process *process, uint32_t context)
{
	struct live_holds *holds = &process->holds;
	struct live_held *held;

	/* 0 is no context, and libcuda's entry points show none. */
	if (!process->slot || process->key.source != EVENT_SOURCE_GUEST || !context ||
	    holds->given_up || is_told(process, context))
		return NULL;
	held = holds->count < MOST ? calloc(1, sizeof(*held)) : NULL;
	if (!held)
		return NULL;
	if (!holds->first)
		holds->since = monotonic__ms();
	held->next = holds->first;
	holds->first = held;
	holds->count++;
	return held;
}

bool live_held__tally(struct live_process *process, const struct tally_key *key,
		      const struct tally *tally)
{
	struct live_held *held = NULL;

	if (key->device & AGGREGATE_CONTEXT && key->kind != TALLY_FAILED)
		held = keep(process, key->device & ~AGGREGATE_CONTEXT);
	if (!held)
		return false;
	held->tally_key = *key;
	held->tally = *tally;
	return true;
}

bool live_held__shape(struct live_process *process, const struct shape_key *key,
		      const struct shape *shape)
{
	struct live_held *held = keep(process, key->context);

	if (!held)
		return false;
	held->is_shape = true;
	held->shape_key = *key;
	held->shape = *shape;
	return true;
}

static uint32_t context_of(const struct live_held *held)
{
	return held->is_shape ? held->shape_key.context
			      : held->tally_key.device & ~AGGREGATE_CONTEXT;
}

void live_held__give(struct live_process *process, const struct aggregate_sink *sink, bool all)
{
	struct live_holds *holds = &process->holds;
	struct live_held **at = &holds->first, *held;

	if (!holds->first)
		return;
	holds->given_up |= all || monotonic__ms() - holds->since > LONGEST_MS;
	while ((held = *at)) {
		if (!holds->given_up && !is_told(process, context_of(held))) {
			at = &held->next;
			continue;
		}
		*at = held->next;
		holds->count--;
		if (held->is_shape)
			sink->shape(sink->context, &held->shape_key, &held->shape);
		else
			sink->tally(sink->context, &held->tally_key, &held->tally);
		free(held);
	}
}

void live_held__free(struct live_process *process)
{
	while (process->holds.first) {
		struct live_held *held = process->holds.first;

		process->holds.first = held->next;
		free(held);
	}
}
