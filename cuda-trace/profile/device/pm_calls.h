/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's PM sampling functions (12.6 and later), and what the metric library does not call of the
 * profiler host: own declarations, as those of the profiler host in cupti_host.h.
 */
#ifndef CUDA_TRACE_PROFILE_DEVICE_PM_CALLS_H
#define CUDA_TRACE_PROFILE_DEVICE_PM_CALLS_H

#include "libcupti-usdt/cupti_host.h"

#define PM_EVERY_CLOCKS 0 /* CUpti_PmSampling_TriggerMode */
#define PM_EVERY_NS	1
#define PM_KEEP_OLDEST	0 /* CUpti_PmSampling_HardwareBuffer_AppendMode */
#define PM_DATA_FULL	1 /* CUpti_PmSampling_DecodeStopReason */

struct pm_availability {
	size_t size;
	void *private;
	size_t device;
	size_t image_size;
	uint8_t *image;
};

struct pm_enable {
	size_t size;
	void *private;
	size_t device;
	void *object;
};

/* Disable, Start, Stop */
struct pm_plain {
	size_t size;
	void *private;
	void *object;
};

struct pm_config {
	size_t size;
	void *private;
	void *object;
	size_t image_size;
	const uint8_t *image;
	size_t buffer_size;
	uint64_t interval;
	int trigger;
	int append;
};

struct pm_decode {
	size_t size;
	void *private;
	void *object;
	uint8_t *data;
	size_t data_size;
	int reason;
	uint8_t overflow;
};

struct pm_data_size {
	size_t size;
	void *private;
	void *object;
	const char **names;
	size_t count;
	uint32_t samples;
	size_t data_size;
};

struct pm_data {
	size_t size;
	void *private;
	void *object;
	size_t data_size;
	uint8_t *data;
};

struct pm_data_info {
	size_t size;
	void *private;
	const uint8_t *data;
	size_t data_size;
	size_t samples;
	size_t populated;
	size_t completed;
};

struct pm_sample_info {
	size_t size;
	void *private;
	void *object;
	const uint8_t *data;
	size_t data_size;
	size_t index;
	uint64_t start;
	uint64_t end;
};

/* X(field, structure, function): all are needed. */
#define PM_CALLS(X)                                                             \
	X(availability, pm_availability, cuptiPmSamplingGetCounterAvailability) \
	X(enable, pm_enable, cuptiPmSamplingEnable)                             \
	X(disable, pm_plain, cuptiPmSamplingDisable)                            \
	X(config, pm_config, cuptiPmSamplingSetConfig)                          \
	X(start, pm_plain, cuptiPmSamplingStart)                                \
	X(stop, pm_plain, cuptiPmSamplingStop)                                  \
	X(decode, pm_decode, cuptiPmSamplingDecodeData)                         \
	X(data_size, pm_data_size, cuptiPmSamplingGetCounterDataSize)           \
	X(data, pm_data, cuptiPmSamplingCounterDataImageInitialize)             \
	X(data_info, pm_data_info, cuptiPmSamplingGetCounterDataInfo)           \
	X(sample_info, pm_sample_info, cuptiPmSamplingCounterDataGetSampleInfo) \
	X(evaluate, cupti_host_evaluate, cuptiProfilerHostEvaluateToGpuValues)  \
	X(host_end, cupti_host_deinitialize, cuptiProfilerHostDeinitialize)

struct pm_calls {
#define PM_CALL(field, type, function) int (*field)(struct type *);
	PM_CALLS(PM_CALL)
#undef PM_CALL
};

#endif
