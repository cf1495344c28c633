// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same for libcupti-usdt/cupti/cupti_range.h, where a toolkit has the range profiler (12.6 and
 * later). The sizes are compared as well: CUPTI distinguishes versions by them.
 */
#include <stddef.h>

#include <cuda.h>
#include <cupti.h>

#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "libcupti-usdt/cupti/cupti_range.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME(ours, field, theirs, their_field)                                                   \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs##_Params, their_field) && \
			       sizeof(((struct ours *)0)->field) ==                              \
				       sizeof(((theirs##_Params *)0)->their_field),              \
		       #ours "." #field " is not " #theirs "." #their_field)
#define SAME_SIZE(ours, last, theirs)                                            \
	_Static_assert(CUPTI_SIZE_OF(ours, last) == theirs##_Params_STRUCT_SIZE, \
		       #ours " does not end as " #theirs)

SAME_NUMBER(CUPTI_BAD_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
SAME_NUMBER(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(CUPTI_UNKNOWN_METRIC, CUPTI_ERROR_INVALID_METRIC_NAME);
SAME_NUMBER(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME_NUMBER(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME_NUMBER(CUPTI_NO_RIGHTS, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(CUPTI_TYPE_RANGE_PROFILER, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME_NUMBER(CUPTI_RANGE_AUTO, CUPTI_AutoRange);
SAME_NUMBER(CUPTI_REPLAY_KERNEL, CUPTI_KernelReplay);

SAME_SIZE(cupti_profiler_initialize, private, CUpti_Profiler_Initialize);
SAME(cupti_chip_name, device, CUpti_Device_GetChipName, deviceIndex);
SAME_SIZE(cupti_chip_name, name, CUpti_Device_GetChipName);
SAME(cupti_availability, context, CUpti_Profiler_GetCounterAvailability, ctx);
SAME(cupti_availability, image_size, CUpti_Profiler_GetCounterAvailability,
     counterAvailabilityImageSize);
SAME(cupti_availability, image, CUpti_Profiler_GetCounterAvailability, pCounterAvailabilityImage);
SAME_SIZE(cupti_availability, image, CUpti_Profiler_GetCounterAvailability);

SAME(cupti_host_initialize, type, CUpti_Profiler_Host_Initialize, profilerType);
SAME(cupti_host_initialize, chip, CUpti_Profiler_Host_Initialize, pChipName);
SAME(cupti_host_initialize, availability, CUpti_Profiler_Host_Initialize,
     pCounterAvailabilityImage);
SAME(cupti_host_initialize, host, CUpti_Profiler_Host_Initialize, pHostObject);
SAME_SIZE(cupti_host_initialize, host, CUpti_Profiler_Host_Initialize);
SAME(cupti_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize, pHostObject);
SAME_SIZE(cupti_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize);
SAME(cupti_host_properties, host, CUpti_Profiler_Host_GetMetricProperties, pHostObject);
SAME(cupti_host_properties, metric, CUpti_Profiler_Host_GetMetricProperties, pMetricName);
SAME(cupti_host_properties, description, CUpti_Profiler_Host_GetMetricProperties, pDescription);
SAME(cupti_host_properties, unit, CUpti_Profiler_Host_GetMetricProperties, pDimUnit);
SAME(cupti_host_properties, type, CUpti_Profiler_Host_GetMetricProperties, metricType);
SAME_SIZE(cupti_host_properties, type, CUpti_Profiler_Host_GetMetricProperties);
SAME(cupti_host_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics, pHostObject);
SAME(cupti_host_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames);
SAME(cupti_host_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics, numMetrics);
SAME_SIZE(cupti_host_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics);
SAME(cupti_host_image_size, image_size, CUpti_Profiler_Host_GetConfigImageSize, configImageSize);
SAME_SIZE(cupti_host_image_size, image_size, CUpti_Profiler_Host_GetConfigImageSize);
SAME(cupti_host_image, host, CUpti_Profiler_Host_GetConfigImage, pHostObject);
SAME(cupti_host_image, image_size, CUpti_Profiler_Host_GetConfigImage, configImageSize);
SAME(cupti_host_image, image, CUpti_Profiler_Host_GetConfigImage, pConfigImage);
SAME_SIZE(cupti_host_image, image, CUpti_Profiler_Host_GetConfigImage);
SAME(cupti_host_passes, image_size, CUpti_Profiler_Host_GetNumOfPasses, configImageSize);
SAME(cupti_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses, pConfigImage);
SAME(cupti_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses, numOfPasses);
SAME_SIZE(cupti_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses);
SAME(cupti_host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues, pHostObject);
SAME(cupti_host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues, pCounterDataImage);
SAME(cupti_host_evaluate, data_size, CUpti_Profiler_Host_EvaluateToGpuValues, counterDataImageSize);
SAME(cupti_host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues, rangeIndex);
SAME(cupti_host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues, ppMetricNames);
SAME(cupti_host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues, numMetrics);
SAME(cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues, pMetricValues);
SAME_SIZE(cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues);

SAME(cupti_range_enable, context, CUpti_RangeProfiler_Enable, ctx);
SAME(cupti_range_enable, object, CUpti_RangeProfiler_Enable, pRangeProfilerObject);
SAME_SIZE(cupti_range_enable, object, CUpti_RangeProfiler_Enable);
SAME(cupti_range_plain, object, CUpti_RangeProfiler_Start, pRangeProfilerObject);
SAME_SIZE(cupti_range_plain, object, CUpti_RangeProfiler_Start);
SAME(cupti_range_plain, object, CUpti_RangeProfiler_Disable, pRangeProfilerObject);
SAME_SIZE(cupti_range_plain, object, CUpti_RangeProfiler_Disable);
SAME(cupti_range_stop, object, CUpti_RangeProfiler_Stop, pRangeProfilerObject);
SAME(cupti_range_stop, pass, CUpti_RangeProfiler_Stop, passIndex);
SAME(cupti_range_stop, level, CUpti_RangeProfiler_Stop, targetNestingLevel);
SAME(cupti_range_stop, all_submitted, CUpti_RangeProfiler_Stop, isAllPassSubmitted);
SAME_SIZE(cupti_range_stop, all_submitted, CUpti_RangeProfiler_Stop);
SAME(cupti_range_config, object, CUpti_RangeProfiler_SetConfig, pRangeProfilerObject);
SAME(cupti_range_config, image_size, CUpti_RangeProfiler_SetConfig, configSize);
SAME(cupti_range_config, image, CUpti_RangeProfiler_SetConfig, pConfig);
SAME(cupti_range_config, data_size, CUpti_RangeProfiler_SetConfig, counterDataImageSize);
SAME(cupti_range_config, data, CUpti_RangeProfiler_SetConfig, pCounterDataImage);
SAME(cupti_range_config, range, CUpti_RangeProfiler_SetConfig, range);
SAME(cupti_range_config, replay, CUpti_RangeProfiler_SetConfig, replayMode);
SAME(cupti_range_config, ranges, CUpti_RangeProfiler_SetConfig, maxRangesPerPass);
SAME(cupti_range_config, levels, CUpti_RangeProfiler_SetConfig, numNestingLevels);
SAME(cupti_range_config, lowest_level, CUpti_RangeProfiler_SetConfig, minNestingLevel);
SAME(cupti_range_config, pass, CUpti_RangeProfiler_SetConfig, passIndex);
SAME(cupti_range_config, target_level, CUpti_RangeProfiler_SetConfig, targetNestingLevel);
SAME_SIZE(cupti_range_config, target_level, CUpti_RangeProfiler_SetConfig);
SAME(cupti_range_decode, object, CUpti_RangeProfiler_DecodeData, pRangeProfilerObject);
SAME(cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData, numOfRangeDropped);
SAME_SIZE(cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData);
SAME(cupti_range_data_size, object, CUpti_RangeProfiler_GetCounterDataSize, pRangeProfilerObject);
SAME(cupti_range_data_size, names, CUpti_RangeProfiler_GetCounterDataSize, pMetricNames);
SAME(cupti_range_data_size, count, CUpti_RangeProfiler_GetCounterDataSize, numMetrics);
SAME(cupti_range_data_size, ranges, CUpti_RangeProfiler_GetCounterDataSize, maxNumOfRanges);
SAME(cupti_range_data_size, nodes, CUpti_RangeProfiler_GetCounterDataSize, maxNumRangeTreeNodes);
SAME(cupti_range_data_size, data_size, CUpti_RangeProfiler_GetCounterDataSize, counterDataSize);
SAME_SIZE(cupti_range_data_size, data_size, CUpti_RangeProfiler_GetCounterDataSize);
SAME(cupti_range_data, object, CUpti_RangeProfiler_CounterDataImage_Initialize,
     pRangeProfilerObject);
SAME(cupti_range_data, data_size, CUpti_RangeProfiler_CounterDataImage_Initialize, counterDataSize);
SAME(cupti_range_data, data, CUpti_RangeProfiler_CounterDataImage_Initialize, pCounterData);
SAME_SIZE(cupti_range_data, data, CUpti_RangeProfiler_CounterDataImage_Initialize);
SAME(cupti_range_info, data, CUpti_RangeProfiler_GetCounterDataInfo, pCounterDataImage);
SAME(cupti_range_info, data_size, CUpti_RangeProfiler_GetCounterDataInfo, counterDataImageSize);
SAME(cupti_range_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo, numTotalRanges);
SAME_SIZE(cupti_range_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo);
#endif
