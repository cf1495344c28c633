/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's CLOCK_MONOTONIC, as in all records of the agent and of eBPF, whatever time
 * namespace the tool runs in. Not for pthread_cond_timedwait() and the like, which use the
 * namespace's clock. Any thread.
 */
#ifndef CUDA_TRACE_BASE_CLOCK_H
#define CUDA_TRACE_BASE_CLOCK_H

#include <stdint.h>

uint64_t monotonic__ns(void);

static inline uint64_t monotonic__ms(void)
{
	return monotonic__ns() / 1000000;
}

/* UTC. */
uint64_t realtime__ns(void);
/* With the time that the machine slept. */
uint64_t boottime__ns(void);

#endif
