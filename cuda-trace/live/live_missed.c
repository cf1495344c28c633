// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/live/live_missed.h"

uint64_t live_missed__count(const struct live_process *process)
{
	const struct aggregate_process *state = &process->state;
	uint64_t missed = 0;

	for (int group = 0; group < CUDA_GROUP_COUNT; group++) {
		uint64_t numbered = state->high[group] - state->base[group];

		if (state->seen >> group & 1 && numbered > state->received[group])
			missed += numbered - state->received[group];
	}
	return missed;
}

void live_missed__add(void *sum, struct live_process *process)
{
	*(uint64_t *)sum += live_missed__count(process);
}

void live_missed__fill(struct live_state *state, uint64_t missed)
{
	const struct aggregate_counters *counters = &state->aggregate.counters;
	uint64_t *lost = state->lost.session, busy = 0, unreadable = 0;

	for (int group = 0; group < CUDA_GROUP_COUNT; group++) {
		busy += counters->busy[group];
		unreadable += counters->unreadable[group];
	}
	/* A batch that was counted as lost leaves a gap in the numbers, too: say it once. */
	lost[SESSION_LOST_MISSED] = missed > busy + unreadable ? missed - busy - unreadable : 0;
	lost[SESSION_LOST_UNREADABLE] = unreadable;
	/* Nobody numbers what the driver source sees. */
	state->aggregate_lost[LIVE_LOST_BUSY] = busy + counters->driver_busy;
	state->aggregate_lost[LIVE_LOST_FULL] = counters->full;
}
