/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's range profiler: metrics → values of one kernel. One caller at a time (counters.c sees to
 * that), on launching threads inside their launch callback, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_RANGE_PROFILER_H
#define LIBCUPTI_USDT_RANGE_PROFILER_H

#include <stddef.h>
#include <stdint.h>

/* What went wrong: CUPTI's result, in which of its functions, and with which metric or NULL. */
struct range_failure {
	int result;
	const char *function;
	const char *metric;
};

struct range_plan {
	char chip[32];
	uint32_t count; /* of metrics */
	const char *const *metrics;
	uint32_t passes;
};

struct range_metric {
	const char *unit, *description; /* CUPTI's, or NULL */
	int type;
};

/*
 * Takes the metrics ("a,b,?c": one with a question mark is left out where the GPU lacks it) and
 * finds out how they are collected on that device. 0, or -1 and the failure; once a process.
 */
int range_profiler__prepare(const char *request, uint32_t device, struct range_failure *failure);
const struct range_plan *range_profiler__plan(void);
/* What CUPTI says of one of the plan's metrics. */
void range_profiler__describe(const char *metric, struct range_metric *description);

/* Counts whatever is launched in that context until stop. 0, or -1: never call it again then. */
int range_profiler__start(void *context, struct range_failure *failure);
/* The values of the kernel that ran since start, one for each metric. 1, or 0: there was none, or
 * -1 as above. */
int range_profiler__stop(void *context, double *values, struct range_failure *failure);
/* The context is about to go: CUPTI crashes when it is asked for it again. */
void range_profiler__forget(void *context);
/* Lets the GPU go; on the guest's thread, while nobody is between start and stop. */
void range_profiler__close(void);

#endif
