/* SPDX-License-Identifier: BSD-2-Clause */
/* Time that never goes back: CLOCK_MONOTONIC, as in every record of the guest. Any thread. */
#ifndef CUDA_TRACE_BASE_CLOCK_H
#define CUDA_TRACE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic__ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static inline uint64_t monotonic__ms(void)
{
	return monotonic__ns() / 1000000;
}

#endif
