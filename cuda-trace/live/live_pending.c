// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. a device that is never reported (all kernels are endless): the time is limited.
 * 2. a process that makes contexts all the time: there is a bound to what is kept. 3. names that
 * are gone when it is handed out: failed calls, which have some, are not kept.
 */
#include "cuda-trace/live/live_pending.h"

#include <stdlib.h>
#include "cuda-trace/live/live.h"
#include "cuda-trace/base/clock.h"

#define LONGEST_MS  3000
#define MAX_PENDING 256

struct live_pending {
	struct live_pending *next;
	bool is_shape;
	struct tally_key tally_key;
	struct shape_key shape_key;
	union {
		struct tally tally;
		struct shape shape;
	};
};

static bool is_known(const struct live_process *process, uint32_t context)
{
	return context >= AGGREGATE_CONTEXTS || process->state.device_of[context];
}

/* A new entry, or NULL: it is not to be kept. */
static struct live_pending *keep(struct live_process *process, uint32_t context)
{
	struct live_holds *holds = &process->holds;
	struct live_pending *pending;

	/* 0 is no context, and libcuda's entry points show none. */
	if (!process->slot || process->key.source != EVENT_SOURCE_AGENT || !context ||
	    holds->given_up || is_known(process, context))
		return NULL;
	pending = holds->count < MAX_PENDING ? calloc(1, sizeof(*pending)) : NULL;
	if (!pending)
		return NULL;
	if (!holds->first)
		holds->since = monotonic__ms();
	pending->next = holds->first;
	holds->first = pending;
	holds->count++;
	return pending;
}

bool live_pending__tally(struct live_process *process, const struct tally_key *key,
			 const struct tally *tally)
{
	struct live_pending *pending = NULL;

	if (key->device & AGGREGATE_CONTEXT && key->kind != TALLY_FAILED)
		pending = keep(process, key->device & ~AGGREGATE_CONTEXT);
	if (!pending)
		return false;
	pending->tally_key = *key;
	pending->tally = *tally;
	return true;
}

bool live_pending__shape(struct live_process *process, const struct shape_key *key,
			 const struct shape *shape)
{
	struct live_pending *pending = keep(process, key->context);

	if (!pending)
		return false;
	pending->is_shape = true;
	pending->shape_key = *key;
	pending->shape = *shape;
	return true;
}

static uint32_t context_of(const struct live_pending *pending)
{
	return pending->is_shape ? pending->shape_key.context
				 : pending->tally_key.device & ~AGGREGATE_CONTEXT;
}

void live_pending__hand_out(struct live_process *process, const struct aggregate_sink *sink,
			    bool all)
{
	struct live_holds *holds = &process->holds;
	struct live_pending **at = &holds->first, *pending;

	if (!holds->first)
		return;
	holds->given_up |= all || monotonic__ms() - holds->since > LONGEST_MS;
	while ((pending = *at)) {
		if (!holds->given_up && !is_known(process, context_of(pending))) {
			at = &pending->next;
			continue;
		}
		*at = pending->next;
		holds->count--;
		if (pending->is_shape)
			sink->shape(sink->context, &pending->shape_key, &pending->shape);
		else
			sink->tally(sink->context, &pending->tally_key, &pending->tally);
		free(pending);
	}
}

void live_pending__free(struct live_process *process)
{
	while (process->holds.first) {
		struct live_pending *pending = process->holds.first;

		process->holds.first = pending->next;
		free(pending);
	}
}
