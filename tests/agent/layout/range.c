// SPDX-License-Identifier: BSD-2-Clause
// libcupti-usdt/cupti/cupti_range.h, where a toolkit has the range profiler (12.6 and later).
#include "tests/agent/layout/same.h"

#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "libcupti-usdt/cupti/cupti_range.h"

SAME_NUMBER(CUPTI_RANGE_AUTO, CUPTI_AutoRange);
SAME_NUMBER(CUPTI_REPLAY_KERNEL, CUPTI_KernelReplay);

SAME(cupti_availability, context, CUpti_Profiler_GetCounterAvailability, ctx);
SAME(cupti_availability, image_size, CUpti_Profiler_GetCounterAvailability,
     counterAvailabilityImageSize);
SAME(cupti_availability, image, CUpti_Profiler_GetCounterAvailability, pCounterAvailabilityImage);
SAME_SIZE(cupti_availability, image, CUpti_Profiler_GetCounterAvailability);
SAME(cupti_range_enable, context, CUpti_RangeProfiler_Enable, ctx);
SAME(cupti_range_enable, object, CUpti_RangeProfiler_Enable, pRangeProfilerObject);
SAME_SIZE(cupti_range_enable, object, CUpti_RangeProfiler_Enable);
SAME(cupti_range_plain, object, CUpti_RangeProfiler_Start, pRangeProfilerObject);
SAME_SIZE(cupti_range_plain, object, CUpti_RangeProfiler_Start);
SAME(cupti_range_plain, object, CUpti_RangeProfiler_Disable, pRangeProfilerObject);
SAME_SIZE(cupti_range_plain, object, CUpti_RangeProfiler_Disable);
SAME(cupti_range_plain, object, CUpti_RangeProfiler_PopRange, pRangeProfilerObject);
SAME_SIZE(cupti_range_plain, object, CUpti_RangeProfiler_PopRange);
SAME(cupti_range_push, object, CUpti_RangeProfiler_PushRange, pRangeProfilerObject);
SAME(cupti_range_push, name, CUpti_RangeProfiler_PushRange, pRangeName);
SAME_SIZE(cupti_range_push, name, CUpti_RangeProfiler_PushRange);
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
