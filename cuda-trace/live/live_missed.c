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
