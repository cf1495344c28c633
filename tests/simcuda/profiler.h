/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler host and range profiler APIs as far as they are simulated. The structures are the
 * agent's own declarations, which tests/agent/layout compares with NVIDIA's headers.
 */
#ifndef TESTS_SIMCUDA_PROFILER_H
#define TESTS_SIMCUDA_PROFILER_H

#include <stdbool.h>

#include "libcupti-usdt/cupti/cupti_range.h"
#include "tests/simcuda/cupti.h"

struct simcuda_call;

/* A metric without its rollup; NULL: this GPU does not have it. */
struct sim_metric {
	const char *name, *unit;
	int type; /* 0 counter, 1 ratio, 2 throughput */
};
const struct sim_metric *sim_metric__find(const char *name, bool with_rollup);
const struct sim_metric *sim_metric__at(size_t index);
const char *const *sim_metric__rollups(int type, size_t *count);
/* What SIMCUDA_COUNTERS says, or 1. */
double sim_metric__value(const char *kernel, const char *metric);
/* SIMCUDA_PROFILER=FUNCTION:RESULT: what that function answers; 0 = it works. */
int sim_profiler__fault(const char *function);

/* In a launch call: its kernel does run; it is not captured. */
void range_profiler__runs(void);
/* That kernel runs until then, by itself or in a graph. */
void range_profiler__ran(const char *kernel, uint64_t end);
/* A launch call is about to return. */
void range_profiler__launched(const struct simcuda_call *call);
void range_profiler__context_ends(CUcontext context);

#pragma GCC visibility push(default)
#define SIM_PROFILER_CALL(name, type) CUptiResult cupti##name(struct type *parameters);
CUPTI_RANGE_FUNCTIONS(SIM_PROFILER_CALL)
SIM_PROFILER_CALL(ProfilerGetCounterAvailability, cupti_availability)
SIM_PROFILER_CALL(RangeProfilerPushRange, cupti_range_push)
SIM_PROFILER_CALL(RangeProfilerPopRange, cupti_range_plain)
SIM_PROFILER_CALL(ProfilerHostGetBaseMetrics, cupti_host_base_metrics)
SIM_PROFILER_CALL(ProfilerHostGetSubMetrics, cupti_host_sub_metrics)
#undef SIM_PROFILER_CALL
#pragma GCC visibility pop

#endif
