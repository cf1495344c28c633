/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcupti's range profiler API (12.6 and later), as far as it is called: own declarations, as
 * those of the profiler host in cupti_host.h.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_RANGE_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_RANGE_H

#include "libcupti-usdt/cupti_host.h"

#define CUPTI_RANGE_AUTO    1 /* CUpti_ProfilerRange: each kernel is one */
#define CUPTI_RANGE_USER    2 /* what lies between a push and a pop is one */
#define CUPTI_REPLAY_KERNEL 2 /* CUpti_ProfilerReplayMode: by CUPTI, inside the launch */
#define CUPTI_REPLAY_USER   3 /* by nobody but the caller */

struct cupti_availability {
	size_t size;
	void *private;
	void *context; /* NULL = the current one */
	size_t image_size;
	uint8_t *image;
};

struct cupti_range_enable {
	size_t size;
	void *private;
	void *context;
	void *object;
};

/* Disable, Start, PopRange */
struct cupti_range_plain {
	size_t size;
	void *private;
	void *object;
};

struct cupti_range_push {
	size_t size;
	void *private;
	void *object;
	const char *name;
};

struct cupti_range_stop {
	size_t size;
	void *private;
	void *object;
	size_t pass;
	size_t level;
	uint8_t all_submitted;
};

struct cupti_range_config {
	size_t size;
	void *private;
	void *object;
	size_t image_size;
	const uint8_t *image;
	size_t data_size;
	uint8_t *data;
	int range;
	int replay;
	size_t ranges;
	uint16_t levels;
	uint16_t lowest_level;
	size_t pass;
	uint16_t target_level;
};

struct cupti_range_decode {
	size_t size;
	void *private;
	void *object;
	size_t dropped;
};

struct cupti_range_data_size {
	size_t size;
	void *private;
	void *object;
	const char **names;
	size_t count;
	size_t ranges;
	uint32_t nodes;
	size_t data_size;
};

struct cupti_range_data {
	size_t size;
	void *private;
	void *object;
	size_t data_size;
	uint8_t *data;
};

struct cupti_range_info {
	size_t size;
	void *private;
	const uint8_t *data;
	size_t data_size;
	size_t ranges;
};

/* X(name, its structure): all are needed, or there are no counters. */
#define CUPTI_RANGE_FUNCTIONS(X)                                     \
	X(ProfilerInitialize, cupti_profiler_initialize)             \
	X(DeviceGetChipName, cupti_chip_name)                        \
	X(ProfilerHostInitialize, cupti_host_initialize)             \
	X(ProfilerHostDeinitialize, cupti_host_deinitialize)         \
	X(ProfilerHostGetMetricProperties, cupti_host_properties)    \
	X(ProfilerHostConfigAddMetrics, cupti_host_metrics)          \
	X(ProfilerHostGetConfigImageSize, cupti_host_image_size)     \
	X(ProfilerHostGetConfigImage, cupti_host_image)              \
	X(ProfilerHostGetNumOfPasses, cupti_host_passes)             \
	X(ProfilerHostEvaluateToGpuValues, cupti_host_evaluate)      \
	X(RangeProfilerEnable, cupti_range_enable)                   \
	X(RangeProfilerDisable, cupti_range_plain)                   \
	X(RangeProfilerSetConfig, cupti_range_config)                \
	X(RangeProfilerStart, cupti_range_plain)                     \
	X(RangeProfilerStop, cupti_range_stop)                       \
	X(RangeProfilerDecodeData, cupti_range_decode)               \
	X(RangeProfilerGetCounterDataSize, cupti_range_data_size)    \
	X(RangeProfilerCounterDataImageInitialize, cupti_range_data) \
	X(RangeProfilerGetCounterDataInfo, cupti_range_info)

struct cupti_range {
#define CUPTI_RANGE_POINTER(name, type) int (*name)(struct type *);
	CUPTI_RANGE_FUNCTIONS(CUPTI_RANGE_POINTER)
#undef CUPTI_RANGE_POINTER
	int (*GetDeviceId)(void *context, uint32_t *device);
	/* NULL: this libcupti has none. */
	int (*ProfilerGetCounterAvailability)(struct cupti_availability *);
	/* Both, or both are NULL. */
	int (*RangeProfilerPushRange)(struct cupti_range_push *);
	int (*RangeProfilerPopRange)(struct cupti_range_plain *);
};

/* Takes the functions out of the libcupti in use; once, in InitializeInjection. */
void cupti_range__bind(void *library);
/* NULL: this libcupti has no range profiler. */
const struct cupti_range *cupti_range__get(void);

#endif
