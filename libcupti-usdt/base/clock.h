/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time in nanoseconds of the machine's CLOCK_MONOTONIC, as bpf_ktime_get_ns() returns it, and the
 * conversion of CUPTI's time into it. clock__now() and clock__from_cupti() on any thread;
 * clock__calibrate() on the agent's own thread (or before it exists).
 */
#ifndef LIBCUPTI_USDT_BASE_CLOCK_H
#define LIBCUPTI_USDT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The offset of this process's time namespace from the machine's clock. */
extern int64_t clock_namespace_ns;

/* Reads that offset; once, before the clock is used. */
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
/* Forgets the calibration, which is minutes old when the agent becomes active again. */
void clock__reset(void);
uint64_t clock__from_cupti(uint64_t timestamp);

#endif
