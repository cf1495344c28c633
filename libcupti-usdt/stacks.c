// SPDX-License-Identifier: BSD-2-Clause
/*
 * One launch in N of each thread, at random distances of 1 to 2N - 1: a program that launches the
 * same ten kernels over and over would with N = 10 show one of them only. A probe hit costs the
 * launch about a microsecond, so who is not hit must be decided here and not by the listener.
 */
#include "libcupti-usdt/stacks.h"

#include <stdbool.h>
#include <stddef.h>

#include "libcupti-usdt/python.h"
#include "libcupti-usdt/sites.h"
#include "libcupti-usdt/stamps.h"
#include "libcupti-usdt/status.h"
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
	uint64_t mixed = (stamps__now() ^ (uint64_t)tid << 32) * 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ULL;
	return 1 + (uint32_t)(((mixed >> 32) * (2ULL * period - 1)) >> 32);
}

/* Threads that found no ring share their distances; a lost step makes a sample late, no more. */
static uint32_t *distances_of(struct ring *ring)
{
	static uint32_t shared[PROBES];

	return ring ? ring__stack_distances(ring) : shared;
}

static bool is_due(uint32_t *distance, uint32_t period, uint32_t tid)
{
	uint32_t left = __atomic_load_n(distance, __ATOMIC_RELAXED);
	bool due;

	if (!left)
		left = draw(period, tid);
	due = --left == 0;
	if (due)
		left = draw(period, tid);
	__atomic_store_n(distance, left, __ATOMIC_RELAXED);
	return due;
}

void stacks__sample(struct ring *ring, uint32_t correlation, uint32_t context)
{
	uint32_t wanted = sites__stacks_wanted(), tid = ring__tid(ring);
	uint32_t *distances = distances_of(ring);

	for (; wanted; wanted &= wanted - 1) {
		unsigned int probe = __builtin_ctz(wanted);

		if (is_due(&distances[probe], periods[probe], tid))
			site__stack(probe, correlation, tid, context, python__get(),
				    status__instance());
	}
}
