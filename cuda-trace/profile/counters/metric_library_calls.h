/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's profiler host functions as far as the metric library calls them.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_CALLS_H
#define CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_CALLS_H

#include <dlfcn.h>
#include <stdbool.h>

#include "libcupti-usdt/cupti_host.h"

/* X(field, structure, function) */
#define LIBRARY_CALLS(X)                                                           \
	X(host, cupti_host_initialize, cuptiProfilerHostInitialize)                \
	X(base, cupti_host_base_metrics, cuptiProfilerHostGetBaseMetrics)          \
	X(sub, cupti_host_sub_metrics, cuptiProfilerHostGetSubMetrics)             \
	X(properties, cupti_host_properties, cuptiProfilerHostGetMetricProperties) \
	X(add, cupti_host_metrics, cuptiProfilerHostConfigAddMetrics)              \
	X(image_size, cupti_host_image_size, cuptiProfilerHostGetConfigImageSize)  \
	X(image, cupti_host_image, cuptiProfilerHostGetConfigImage)                \
	X(passes, cupti_host_passes, cuptiProfilerHostGetNumOfPasses)

struct library_calls {
#define LIBRARY_CALL(field, type, function) int (*field)(struct type *);
	LIBRARY_CALLS(LIBRARY_CALL)
#undef LIBRARY_CALL
};

static inline bool metric_library_calls__find(struct library_calls *calls, void *library)
{
	bool all = true;

#define LIBRARY_CALL(field, type, function)                  \
	*(void **)&calls->field = dlsym(library, #function); \
	all &= calls->field != NULL;
	LIBRARY_CALLS(LIBRARY_CALL)
#undef LIBRARY_CALL
	return all;
}

#endif
