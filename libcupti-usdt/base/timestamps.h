/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timestamps, which cost as little as the processor allows: on x86 the time-stamp counter if the
 * Linux kernel itself uses it as clock source, otherwise CLOCK_MONOTONIC. Host records contain
 * timestamps until they are sent; timestamps__to_ns() then converts them to nanoseconds. NVTX
 * ranges are converted at once, since they may last for longer than paces are kept.
 */
#ifndef LIBCUPTI_USDT_BASE_TIMESTAMPS_H
#define LIBCUPTI_USDT_BASE_TIMESTAMPS_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "libcupti-usdt/base/clock.h"

extern bool timestamps_count; /* of the counter; set once, before any callback */

static inline uint64_t timestamps__now(void)
{
#ifdef __x86_64__
	if (__builtin_expect(timestamps_count, 1))
		return __rdtsc();
#endif
	return clock__now();
}

/* The same where there is no DETOUR_CLOCK. */
static inline uint64_t timestamps__counted(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return clock__now();
#endif
}

/* Chooses; once, before any callback. */
void timestamps__open(void);
/* Compares counter and clock; on the agent's own thread (or before it), each second or so. */
void timestamps__pace(void);
/* Any thread. Keeps the order of timestamps, and gives the same time for one that is about a second
 * old. */
uint64_t timestamps__to_ns(uint64_t stamp);

#endif
