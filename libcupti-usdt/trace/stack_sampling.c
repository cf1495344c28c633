// SPDX-License-Identifier: BSD-2-Clause
/*
 * One launch in N of each thread, at random distances of 1 to 2N - 1: a program that launches the
 * same ten kernels over and over would with N = 10 show one of them only. A probe hit costs the
 * launch about a microsecond, so who is not hit must be decided here and not by the listener.
 */
#include "libcupti-usdt/trace/stack_sampling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcupti-usdt/trace/python_frames.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/stack_probes.h"

static const uint32_t periods[] = {
#define PERIOD(probe, period) period,
	CUDA_STACK_PROBES(PERIOD)
#undef PERIOD
};
#define PROBES (sizeof(periods) / sizeof(periods[0]))

/* Never 0. The low bits of a clock are as good as dice here, once they are mixed. */
static uint32_t draw(uint32_t period, uint32_t tid)
{
	uint64_t mixed = (timestamps__now() ^ (uint64_t)tid << 32) * 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ULL;
	return 1 + (uint32_t)(((mixed >> 32) * (2ULL * period - 1)) >> 32);
}

/* After `passed` launches more. */
static bool is_due(uint32_t *distance, uint32_t passed, uint32_t period, uint32_t tid)
{
	uint32_t left = __atomic_load_n(distance, __ATOMIC_RELAXED);
	bool due;

	if (!left)
		left = draw(period, tid);
	due = left <= passed;
	left = due ? draw(period, tid) : left - passed;
	__atomic_store_n(distance, left, __ATOMIC_RELAXED);
	return due;
}

static void fire(unsigned int probe, uint32_t correlation, uint32_t tid, uint32_t context,
		 const struct cuda_graph_call *call)
{
	probe_sites__stack(probe, correlation, tid, context, python_frames__get(),
			   status__instance(), call);
}

/* Threads that found no ring share their distances; a lost step makes a sample late, no more. */
static void sample_without_ring(uint32_t wanted, uint32_t correlation, uint32_t context)
{
	static uint32_t shared[PROBES];
	uint32_t tid = ring__tid(NULL);

	for (; wanted; wanted &= wanted - 1) {
		unsigned int probe = __builtin_ctz(wanted);

		if (is_due(&shared[probe], 1, periods[probe], tid))
			fire(probe, correlation, tid, context, NULL);
	}
}

/* The ring counts to the nearest of its distances, which are all brought up to date here. */
void stack_sampling__sample(struct ring *ring, uint32_t correlation, uint32_t context)
{
	uint32_t wanted = atomic_load_explicit(&hot.stack_probes, memory_order_relaxed);
	uint32_t nearest = UINT32_MAX, passed;

	if (!ring) {
		sample_without_ring(wanted, correlation, context);
		return;
	}
	passed = ring->stacks_step - ring->stacks_left;
	for (uint32_t rest = wanted; rest; rest &= rest - 1) {
		unsigned int probe = __builtin_ctz(rest);
		uint32_t *distance = &ring->stack_distances[probe];
		bool is_new = !(ring->stacks_wanted >> probe & 1);

		if (is_new)
			*distance = 0;
		if (is_due(distance, is_new ? 1 : passed, periods[probe], ring->tid))
			fire(probe, correlation, ring->tid, context, NULL);
		if (*distance < nearest)
			nearest = *distance;
	}
	ring->stacks_left = ring->stacks_step = nearest;
	ring->stacks_wanted = wanted;
}

void stack_sampling__take(struct ring *ring, uint32_t correlation, uint32_t context, uint64_t start,
			  uint64_t end)
{
	uint32_t wanted = atomic_load_explicit(&hot.stack_probes, memory_order_relaxed);
	const struct cuda_graph_call call = {
		.size = sizeof(call),
		.start = timestamps__to_ns(start),
		.end = timestamps__to_ns(end),
	};

	for (; wanted; wanted &= wanted - 1)
		fire(__builtin_ctz(wanted), correlation, ring__tid(ring), context, &call);
}
