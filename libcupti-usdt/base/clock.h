/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time: nanoseconds of the machine's CLOCK_MONOTONIC, as bpf_ktime_get_ns() counts them, and how
 * CUPTI's time becomes it. clock__now() and clock__from_cupti() on any thread; clock__calibrate()
 * on the agent's own thread (or before it).
 */
#ifndef LIBCUPTI_USDT_BASE_CLOCK_H
#define LIBCUPTI_USDT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* How far the time namespace of this process is ahead of the machine; negative = behind. */
extern int64_t clock_namespace_ns;

/* Reads that; once, before any time is taken. */
void clock__open(void);

/* vDSO: no system call, errno untouched. */
static inline uint64_t clock__now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec - clock_namespace_ns;
}

typedef int (*clock__reader)(uint64_t *timestamp);

/* Measures CUPTI's clock against ours; read is cuptiGetTimestamp. */
void clock__calibrate(clock__reader read);
/* Forgets the calibration: it is minutes old when the guest becomes active again. */
void clock__reset(void);
uint64_t clock__from_cupti(uint64_t timestamp);

#endif
