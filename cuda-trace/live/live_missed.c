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

void live_missed__fill(struct live_state *state, const uint64_t *lost, uint64_t missed)
{
	const struct aggregate_counters *counters = &state->aggregate.counters;
	uint64_t known;

	for (int group = 0; group < CUDA_GROUP_COUNT; group++) {
		state->lost[LIVE_LOST_BUSY] += counters->busy[group];
		state->lost[LIVE_LOST_UNREADABLE] += counters->unreadable[group];
	}
	/* A batch that was counted as lost leaves a gap in the numbers, too: say it once. */
	known = state->lost[LIVE_LOST_BUSY] + state->lost[LIVE_LOST_UNREADABLE];
	state->lost[LIVE_LOST_MISSED] = missed > known ? missed - known : 0;
	state->lost[LIVE_LOST_BUSY] += counters->driver_busy; /* nobody numbers these */
	state->lost[LIVE_LOST_FULL] = counters->full;
	state->lost[LIVE_LOST_MALFORMED] = lost[SESSION_LOST_MALFORMED];
	state->lost_names = lost[SESSION_LOST_RING_FULL_NAMES] + lost[SESSION_LOST_NAMES];
	state->killed = lost[SESSION_LOST_KILLED];
}
