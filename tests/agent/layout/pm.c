// SPDX-License-Identifier: BSD-2-Clause
// The tool's own declarations of PM sampling, where a toolkit has it (12.6 and later).
#include "tests/agent/layout/same.h"

#if __has_include(<cupti_pmsampling.h>)
#include <cupti_pmsampling.h>

#include "cuda-trace/profile/device/pm_calls.h"

SAME_NUMBER(PM_EVERY_CLOCKS, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME_NUMBER(PM_EVERY_NS, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME_NUMBER(PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME_NUMBER(PM_DATA_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);

SAME(pm_availability, device, CUpti_PmSampling_GetCounterAvailability, deviceIndex);
SAME(pm_availability, image_size, CUpti_PmSampling_GetCounterAvailability,
     counterAvailabilityImageSize);
SAME(pm_availability, image, CUpti_PmSampling_GetCounterAvailability, pCounterAvailabilityImage);
SAME_SIZE(pm_availability, image, CUpti_PmSampling_GetCounterAvailability);
SAME(pm_enable, device, CUpti_PmSampling_Enable, deviceIndex);
SAME(pm_enable, object, CUpti_PmSampling_Enable, pPmSamplingObject);
SAME_SIZE(pm_enable, object, CUpti_PmSampling_Enable);
SAME(pm_plain, object, CUpti_PmSampling_Start, pPmSamplingObject);
SAME_SIZE(pm_plain, object, CUpti_PmSampling_Start);
SAME_SIZE(pm_plain, object, CUpti_PmSampling_Stop);
SAME_SIZE(pm_plain, object, CUpti_PmSampling_Disable);
SAME(pm_config, object, CUpti_PmSampling_SetConfig, pPmSamplingObject);
SAME(pm_config, image_size, CUpti_PmSampling_SetConfig, configSize);
SAME(pm_config, image, CUpti_PmSampling_SetConfig, pConfig);
SAME(pm_config, buffer_size, CUpti_PmSampling_SetConfig, hardwareBufferSize);
SAME(pm_config, interval, CUpti_PmSampling_SetConfig, samplingInterval);
SAME(pm_config, trigger, CUpti_PmSampling_SetConfig, triggerMode);
SAME(pm_config, append, CUpti_PmSampling_SetConfig, hwBufferAppendMode);
SAME_SIZE(pm_config, append, CUpti_PmSampling_SetConfig);
SAME(pm_decode, object, CUpti_PmSampling_DecodeData, pPmSamplingObject);
SAME(pm_decode, data, CUpti_PmSampling_DecodeData, pCounterDataImage);
SAME(pm_decode, data_size, CUpti_PmSampling_DecodeData, counterDataImageSize);
SAME(pm_decode, reason, CUpti_PmSampling_DecodeData, decodeStopReason);
SAME(pm_decode, overflow, CUpti_PmSampling_DecodeData, overflow);
SAME_SIZE(pm_decode, overflow, CUpti_PmSampling_DecodeData);
SAME(pm_data_size, object, CUpti_PmSampling_GetCounterDataSize, pPmSamplingObject);
SAME(pm_data_size, names, CUpti_PmSampling_GetCounterDataSize, pMetricNames);
SAME(pm_data_size, count, CUpti_PmSampling_GetCounterDataSize, numMetrics);
SAME(pm_data_size, samples, CUpti_PmSampling_GetCounterDataSize, maxSamples);
SAME(pm_data_size, data_size, CUpti_PmSampling_GetCounterDataSize, counterDataSize);
SAME_SIZE(pm_data_size, data_size, CUpti_PmSampling_GetCounterDataSize);
SAME(pm_data, object, CUpti_PmSampling_CounterDataImage_Initialize, pPmSamplingObject);
SAME(pm_data, data_size, CUpti_PmSampling_CounterDataImage_Initialize, counterDataSize);
SAME(pm_data, data, CUpti_PmSampling_CounterDataImage_Initialize, pCounterData);
SAME_SIZE(pm_data, data, CUpti_PmSampling_CounterDataImage_Initialize);
SAME(pm_data_info, data, CUpti_PmSampling_GetCounterDataInfo, pCounterDataImage);
SAME(pm_data_info, data_size, CUpti_PmSampling_GetCounterDataInfo, counterDataImageSize);
SAME(pm_data_info, samples, CUpti_PmSampling_GetCounterDataInfo, numTotalSamples);
SAME(pm_data_info, populated, CUpti_PmSampling_GetCounterDataInfo, numPopulatedSamples);
SAME(pm_data_info, completed, CUpti_PmSampling_GetCounterDataInfo, numCompletedSamples);
SAME_SIZE(pm_data_info, completed, CUpti_PmSampling_GetCounterDataInfo);
SAME(pm_sample_info, object, CUpti_PmSampling_CounterData_GetSampleInfo, pPmSamplingObject);
SAME(pm_sample_info, data, CUpti_PmSampling_CounterData_GetSampleInfo, pCounterDataImage);
SAME(pm_sample_info, data_size, CUpti_PmSampling_CounterData_GetSampleInfo, counterDataImageSize);
SAME(pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo, sampleIndex);
SAME(pm_sample_info, start, CUpti_PmSampling_CounterData_GetSampleInfo, startTimestamp);
SAME(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo, endTimestamp);
SAME_SIZE(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo);
#endif
