/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time that never goes back: the machine's CLOCK_MONOTONIC, as in every record of the agent and of
 * eBPF, in whichever time namespace the tool runs. Not for pthread_cond_timedwait() and the like,
 * which count in the namespace. Any thread.
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

#endif
