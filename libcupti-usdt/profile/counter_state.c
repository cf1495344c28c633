// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/profile/counter_state.h"

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/emit/interned_names.h"

static _Atomic(uint64_t) sent_at;
static _Atomic(uint32_t) sent_outcome;

void counter_state__clear(struct counter_state *state)
{
	atomic_store(&state->launches, 0);
	atomic_store(&state->matched, 0);
	atomic_store(&state->missed, 0);
	atomic_store(&state->graphs, 0);
	atomic_store(&state->counted, 0);
	atomic_store(&state->held, false);
	state->failure = (struct range_failure){0};
	atomic_store(&state->outcome, CUDA_COUNTERS_WAITING);
}

static void add_reason(struct cuda_counters_state *to, const struct counter_state *state)
{
	const struct range_failure *failure = &state->failure;

	if (atomic_load(&state->held)) {
		to->result = CUDA_COUNTERS_HELD;
		return;
	}
	if (to->outcome != CUDA_COUNTERS_FAILED && to->outcome != CUDA_COUNTERS_DONE)
		return;
	to->result = failure->result;
	to->function = failure->function ? interned_names__intern_text(failure->function) : 0;
	to->metric = failure->metric ? interned_names__intern_text(failure->metric) : 0;
}

void counter_state__send(const struct counter_state *state, const struct range_plan *plan)
{
	uint64_t now = clock__now(), since = atomic_load(&state->alone_since);
	struct cuda_counters_state to = {
		.head = {.kind = CUDA_RECORD_COUNTERS_STATE, .size = sizeof(to)},
		.time = now,
		.launches = atomic_load(&state->launches),
		.matched = atomic_load(&state->matched),
		.counted = atomic_load(&state->counted),
		.missed = atomic_load(&state->missed),
		.graphs = atomic_load(&state->graphs),
		.outcome = atomic_load(&state->outcome),
		.device = state->device,
		.metrics = plan->count,
		.passes = plan->passes,
		.running = since && now > since ? (now - since) / 1000000000 : 0,
	};

	if (plan->chip[0])
		to.chip = interned_names__intern_text(plan->chip);
	add_reason(&to, state);
	atomic_store(&sent_outcome, to.outcome);
	batch__send_in_place(CUDA_GROUP_COUNTERS, &to, sizeof(to), 1);
	atomic_store(&sent_at, now);
}

uint64_t counter_state__sent_at(void)
{
	return atomic_load(&sent_at);
}

bool counter_state__is_new(const struct counter_state *state)
{
	return atomic_load(&sent_outcome) != atomic_load(&state->outcome);
}
