// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tool's own declarations of the profiler host and of PM sampling, where a toolkit has them
 * (12.6 and later).
 */
#include <stddef.h>

#include <cuda.h>
#include <cupti.h>

#if __has_include(<cupti_pmsampling.h>)
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "cuda-trace/profile/counters/metric_library_calls.h"
#include "cuda-trace/profile/device/pm_calls.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME(ours, field, theirs, their_field)                                                   \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs##_Params, their_field) && \
			       sizeof(((struct ours *)0)->field) ==                              \
				       sizeof(((theirs##_Params *)0)->their_field),              \
		       #ours "." #field " is not " #theirs "." #their_field)
#define SAME_END(ours, last, theirs)                                            \
	_Static_assert(LIBRARY_SIZE(ours, last) == theirs##_Params_STRUCT_SIZE, \
		       #ours " does not end as " #theirs)

SAME_NUMBER(PM_PROFILER, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME_NUMBER(PM_EVERY_CLOCKS, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME_NUMBER(PM_EVERY_NS, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME_NUMBER(PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME_NUMBER(PM_DATA_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
SAME_NUMBER(PM_BAD_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
SAME_NUMBER(PM_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(PM_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);

SAME(pm_availability, device, CUpti_PmSampling_GetCounterAvailability, deviceIndex);
SAME(pm_availability, image_size, CUpti_PmSampling_GetCounterAvailability,
     counterAvailabilityImageSize);
SAME(pm_availability, image, CUpti_PmSampling_GetCounterAvailability, pCounterAvailabilityImage);
SAME_END(pm_availability, image, CUpti_PmSampling_GetCounterAvailability);
SAME(pm_enable, device, CUpti_PmSampling_Enable, deviceIndex);
SAME(pm_enable, object, CUpti_PmSampling_Enable, pPmSamplingObject);
SAME_END(pm_enable, object, CUpti_PmSampling_Enable);
SAME(pm_plain, object, CUpti_PmSampling_Start, pPmSamplingObject);
SAME_END(pm_plain, object, CUpti_PmSampling_Start);
SAME_END(pm_plain, object, CUpti_PmSampling_Stop);
SAME_END(pm_plain, object, CUpti_PmSampling_Disable);
SAME(pm_config, object, CUpti_PmSampling_SetConfig, pPmSamplingObject);
SAME(pm_config, image_size, CUpti_PmSampling_SetConfig, configSize);
SAME(pm_config, image, CUpti_PmSampling_SetConfig, pConfig);
SAME(pm_config, buffer_size, CUpti_PmSampling_SetConfig, hardwareBufferSize);
SAME(pm_config, interval, CUpti_PmSampling_SetConfig, samplingInterval);
SAME(pm_config, trigger, CUpti_PmSampling_SetConfig, triggerMode);
SAME(pm_config, append, CUpti_PmSampling_SetConfig, hwBufferAppendMode);
SAME_END(pm_config, append, CUpti_PmSampling_SetConfig);
SAME(pm_decode, object, CUpti_PmSampling_DecodeData, pPmSamplingObject);
SAME(pm_decode, data, CUpti_PmSampling_DecodeData, pCounterDataImage);
SAME(pm_decode, data_size, CUpti_PmSampling_DecodeData, counterDataImageSize);
SAME(pm_decode, reason, CUpti_PmSampling_DecodeData, decodeStopReason);
SAME(pm_decode, overflow, CUpti_PmSampling_DecodeData, overflow);
SAME_END(pm_decode, overflow, CUpti_PmSampling_DecodeData);
SAME(pm_data_size, object, CUpti_PmSampling_GetCounterDataSize, pPmSamplingObject);
SAME(pm_data_size, names, CUpti_PmSampling_GetCounterDataSize, pMetricNames);
SAME(pm_data_size, count, CUpti_PmSampling_GetCounterDataSize, numMetrics);
SAME(pm_data_size, samples, CUpti_PmSampling_GetCounterDataSize, maxSamples);
SAME(pm_data_size, data_size, CUpti_PmSampling_GetCounterDataSize, counterDataSize);
SAME_END(pm_data_size, data_size, CUpti_PmSampling_GetCounterDataSize);
SAME(pm_data, object, CUpti_PmSampling_CounterDataImage_Initialize, pPmSamplingObject);
SAME(pm_data, data_size, CUpti_PmSampling_CounterDataImage_Initialize, counterDataSize);
SAME(pm_data, data, CUpti_PmSampling_CounterDataImage_Initialize, pCounterData);
SAME_END(pm_data, data, CUpti_PmSampling_CounterDataImage_Initialize);
SAME(pm_data_info, data, CUpti_PmSampling_GetCounterDataInfo, pCounterDataImage);
SAME(pm_data_info, data_size, CUpti_PmSampling_GetCounterDataInfo, counterDataImageSize);
SAME(pm_data_info, samples, CUpti_PmSampling_GetCounterDataInfo, numTotalSamples);
SAME(pm_data_info, populated, CUpti_PmSampling_GetCounterDataInfo, numPopulatedSamples);
SAME(pm_data_info, completed, CUpti_PmSampling_GetCounterDataInfo, numCompletedSamples);
SAME_END(pm_data_info, completed, CUpti_PmSampling_GetCounterDataInfo);
SAME(pm_sample_info, object, CUpti_PmSampling_CounterData_GetSampleInfo, pPmSamplingObject);
SAME(pm_sample_info, data, CUpti_PmSampling_CounterData_GetSampleInfo, pCounterDataImage);
SAME(pm_sample_info, data_size, CUpti_PmSampling_CounterData_GetSampleInfo, counterDataImageSize);
SAME(pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo, sampleIndex);
SAME(pm_sample_info, start, CUpti_PmSampling_CounterData_GetSampleInfo, startTimestamp);
SAME(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo, endTimestamp);
SAME_END(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo);
SAME(pm_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues, pHostObject);
SAME(pm_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues, pCounterDataImage);
SAME(pm_evaluate, data_size, CUpti_Profiler_Host_EvaluateToGpuValues, counterDataImageSize);
SAME(pm_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues, rangeIndex);
SAME(pm_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues, ppMetricNames);
SAME(pm_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues, numMetrics);
SAME(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues, pMetricValues);
SAME_END(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues);
SAME(pm_host_end, host, CUpti_Profiler_Host_Deinitialize, pHostObject);
SAME_END(pm_host_end, host, CUpti_Profiler_Host_Deinitialize);

SAME_END(library_initialize, private, CUpti_Profiler_Initialize);
SAME(library_chip, device, CUpti_Device_GetChipName, deviceIndex);
SAME(library_chip, name, CUpti_Device_GetChipName, pChipName);
SAME_END(library_chip, name, CUpti_Device_GetChipName);
SAME(library_host, type, CUpti_Profiler_Host_Initialize, profilerType);
SAME(library_host, chip, CUpti_Profiler_Host_Initialize, pChipName);
SAME(library_host, availability, CUpti_Profiler_Host_Initialize, pCounterAvailabilityImage);
SAME(library_host, host, CUpti_Profiler_Host_Initialize, pHostObject);
SAME_END(library_host, host, CUpti_Profiler_Host_Initialize);
SAME(library_base, type, CUpti_Profiler_Host_GetBaseMetrics, metricType);
SAME(library_base, names, CUpti_Profiler_Host_GetBaseMetrics, ppMetricNames);
SAME(library_base, count, CUpti_Profiler_Host_GetBaseMetrics, numMetrics);
SAME_END(library_base, count, CUpti_Profiler_Host_GetBaseMetrics);
SAME(library_sub, type, CUpti_Profiler_Host_GetSubMetrics, metricType);
SAME(library_sub, metric, CUpti_Profiler_Host_GetSubMetrics, pMetricName);
SAME(library_sub, count, CUpti_Profiler_Host_GetSubMetrics, numOfSubmetrics);
SAME(library_sub, names, CUpti_Profiler_Host_GetSubMetrics, ppSubMetrics);
SAME_END(library_sub, names, CUpti_Profiler_Host_GetSubMetrics);
SAME(library_properties, metric, CUpti_Profiler_Host_GetMetricProperties, pMetricName);
SAME(library_properties, description, CUpti_Profiler_Host_GetMetricProperties, pDescription);
SAME(library_properties, unit, CUpti_Profiler_Host_GetMetricProperties, pDimUnit);
SAME(library_properties, type, CUpti_Profiler_Host_GetMetricProperties, metricType);
SAME_END(library_properties, type, CUpti_Profiler_Host_GetMetricProperties);
SAME(library_add, names, CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames);
SAME(library_add, count, CUpti_Profiler_Host_ConfigAddMetrics, numMetrics);
SAME_END(library_add, count, CUpti_Profiler_Host_ConfigAddMetrics);
SAME(library_image_size, image_size, CUpti_Profiler_Host_GetConfigImageSize, configImageSize);
SAME_END(library_image_size, image_size, CUpti_Profiler_Host_GetConfigImageSize);
SAME(library_image, image_size, CUpti_Profiler_Host_GetConfigImage, configImageSize);
SAME(library_image, image, CUpti_Profiler_Host_GetConfigImage, pConfigImage);
SAME_END(library_image, image, CUpti_Profiler_Host_GetConfigImage);
SAME(library_passes, image_size, CUpti_Profiler_Host_GetNumOfPasses, configImageSize);
SAME(library_passes, image, CUpti_Profiler_Host_GetNumOfPasses, pConfigImage);
SAME(library_passes, passes, CUpti_Profiler_Host_GetNumOfPasses, numOfPasses);
SAME_END(library_passes, passes, CUpti_Profiler_Host_GetNumOfPasses);
#endif
