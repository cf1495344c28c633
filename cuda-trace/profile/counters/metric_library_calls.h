/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's profiler host functions as far as the metric library calls them.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_CALLS_H
#define CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_CALLS_H

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

/* Whether the library has them all. */
bool metric_library_calls__find(struct library_calls *calls, void *library);
/* The configuration of these metrics and how many passes it takes, for the caller to free. NULL:
 * they do not go together, or one is unknown; the host object may only be ended then.
 */
uint8_t *metric_library_calls__image(const struct library_calls *calls, void *host,
				     const char **names, size_t count, size_t *size,
				     size_t *passes);

#endif
