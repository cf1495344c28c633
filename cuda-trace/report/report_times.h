/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of a recording, which may hold any. Rows whose times are impossible are counted and left
 * out where they are read; behind that, times can be added and subtracted.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_TIMES_H
#define CUDA_TRACE_REPORT_REPORT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#define REPORT_TIMES_EDGE (INT64_MAX / 4) /* 73 years from the beginning of the recording */

static inline bool report_times__are_possible(int64_t start, int64_t end)
{
	return start >= -REPORT_TIMES_EDGE && end <= REPORT_TIMES_EDGE && start <= end;
}

/* A sum that stays at the end of the range instead of going beyond it. */
static inline int64_t report_times__sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b < 0 ? INT64_MIN : INT64_MAX;
}

/* Numbers that only name something: any result will do. */
static inline int64_t report_times__wrap(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
