/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stamp is a moment told as cheaply as the processor can: on x86 its time-stamp counter where the
 * kernel itself keeps time by it, else CLOCK_MONOTONIC. Host records carry stamps until they are
 * sent, when stamps__to_ns() makes nanoseconds of them.
 */
#ifndef LIBCUPTI_USDT_BASE_TIMESTAMPS_H
#define LIBCUPTI_USDT_BASE_TIMESTAMPS_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "libcupti-usdt/base/clock.h"

extern bool stamps_count; /* of the counter; set once, before any callback */

static inline uint64_t stamps__now(void)
{
#ifdef __x86_64__
	if (__builtin_expect(stamps_count, 1))
		return __rdtsc();
#endif
	return clock__now();
}

/* The same where there is no DETOUR_CLOCK. */
static inline uint64_t stamps__counted(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return clock__now();
#endif
}

/* Chooses; once, before any callback. */
void stamps__open(void);
/* Compares counter and clock; on the guest's own thread (or before it), each second or so. */
void stamps__pace(void);
/* Any thread. */
uint64_t stamps__to_ns(uint64_t stamp);

#endif
