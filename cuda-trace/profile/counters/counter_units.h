/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's units ("byte/second", "ns", "gpc_cycle") in the sizes that people read.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_COUNTER_UNITS_H
#define CUDA_TRACE_PROFILE_COUNTERS_COUNTER_UNITS_H

struct counter_unit {
	double factor; /* of CUPTI's value */
	char text[80]; /* "GB/s"; untrusted where CUPTI's own word is part of it */
};

/* The unit in which `value` has one to three digits before the point. */
void counter_unit__choose(struct counter_unit *unit, const char *cupti, double value);

#endif
