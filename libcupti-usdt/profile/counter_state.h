/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of a request for counters so far, and how tools hear of it.
 */
#ifndef LIBCUPTI_USDT_PROFILE_COUNTER_STATE_H
#define LIBCUPTI_USDT_PROFILE_COUNTER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/profile/counter_collector.h"
#include "libcupti-usdt/probes.h"

/* Any thread may look, and add to the counts. */
struct counter_state {
	_Atomic(uint64_t) launches, matched, missed, graphs, counted;
	_Atomic(uint32_t) outcome;     /* enum cuda_counters_outcome */
	_Atomic(uint64_t) alone_since; /* ns; of the launch that is counted now, 0 = none is */
	atomic_bool held;	       /* CUPTI waits for a launch that does not end */
	/* Written while holding the gate alone; read by the agent's thread once the outcome says
	 * so. */
	struct range_failure failure;
	uint32_t device;
};

static inline bool counter_state__has_ended(const struct counter_state *state)
{
	uint32_t outcome = atomic_load(&state->outcome);

	return outcome != CUDA_COUNTERS_WAITING && outcome != CUDA_COUNTERS_ON;
}

/* As at the beginning of a request; a launch that is counted meanwhile stays. */
void counter_state__clear(struct counter_state *state);
/* To whoever listens. */
void counter_state__send(const struct counter_state *state, const struct range_plan *plan);
/* The last time that was done: when, and whether with another outcome. */
uint64_t counter_state__sent_at(void);
bool counter_state__is_new(const struct counter_state *state);

#endif
