// SPDX-License-Identifier: BSD-2-Clause
// libcupti-usdt/cupti_host.h, where a toolkit has the profiler host (12.6 and later).
#include "tests/agent/layout/same.h"

#if __has_include(<cupti_profiler_host.h>)
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "libcupti-usdt/cupti_host.h"

SAME_NUMBER(CUPTI_BAD_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
SAME_NUMBER(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(CUPTI_UNKNOWN_METRIC, CUPTI_ERROR_INVALID_METRIC_NAME);
SAME_NUMBER(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME_NUMBER(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME_NUMBER(CUPTI_NO_RIGHTS, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(CUPTI_TYPE_RANGE_PROFILER, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME_NUMBER(CUPTI_TYPE_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);

SAME(cupti_chip_name, device, CUpti_Device_GetChipName, deviceIndex);
SAME_SIZE(cupti_chip_name, name, CUpti_Device_GetChipName);
SAME(cupti_chip_name, name, CUpti_Device_GetChipName, pChipName);
SAME(cupti_host_base_metrics, type, CUpti_Profiler_Host_GetBaseMetrics, metricType);
SAME(cupti_host_base_metrics, names, CUpti_Profiler_Host_GetBaseMetrics, ppMetricNames);
SAME(cupti_host_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics, numMetrics);
SAME_SIZE(cupti_host_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics);
SAME(cupti_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize, pHostObject);
SAME_SIZE(cupti_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize);
SAME(cupti_host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues, pHostObject);
SAME(cupti_host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues, pCounterDataImage);
SAME(cupti_host_evaluate, data_size, CUpti_Profiler_Host_EvaluateToGpuValues, counterDataImageSize);
SAME(cupti_host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues, rangeIndex);
SAME(cupti_host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues, ppMetricNames);
SAME(cupti_host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues, numMetrics);
SAME(cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues, pMetricValues);
SAME_SIZE(cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues);
SAME(cupti_host_image, host, CUpti_Profiler_Host_GetConfigImage, pHostObject);
SAME(cupti_host_image, image_size, CUpti_Profiler_Host_GetConfigImage, configImageSize);
SAME(cupti_host_image, image, CUpti_Profiler_Host_GetConfigImage, pConfigImage);
SAME_SIZE(cupti_host_image, image, CUpti_Profiler_Host_GetConfigImage);
SAME(cupti_host_image_size, image_size, CUpti_Profiler_Host_GetConfigImageSize, configImageSize);
SAME_SIZE(cupti_host_image_size, image_size, CUpti_Profiler_Host_GetConfigImageSize);
SAME(cupti_host_initialize, type, CUpti_Profiler_Host_Initialize, profilerType);
SAME(cupti_host_initialize, chip, CUpti_Profiler_Host_Initialize, pChipName);
SAME(cupti_host_initialize, availability, CUpti_Profiler_Host_Initialize,
     pCounterAvailabilityImage);
SAME(cupti_host_initialize, host, CUpti_Profiler_Host_Initialize, pHostObject);
SAME_SIZE(cupti_host_initialize, host, CUpti_Profiler_Host_Initialize);
SAME(cupti_host_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics, pHostObject);
SAME(cupti_host_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames);
SAME(cupti_host_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics, numMetrics);
SAME_SIZE(cupti_host_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics);
SAME(cupti_host_passes, image_size, CUpti_Profiler_Host_GetNumOfPasses, configImageSize);
SAME(cupti_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses, pConfigImage);
SAME(cupti_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses, numOfPasses);
SAME_SIZE(cupti_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses);
SAME(cupti_host_properties, host, CUpti_Profiler_Host_GetMetricProperties, pHostObject);
SAME(cupti_host_properties, metric, CUpti_Profiler_Host_GetMetricProperties, pMetricName);
SAME(cupti_host_properties, description, CUpti_Profiler_Host_GetMetricProperties, pDescription);
SAME(cupti_host_properties, unit, CUpti_Profiler_Host_GetMetricProperties, pDimUnit);
SAME(cupti_host_properties, type, CUpti_Profiler_Host_GetMetricProperties, metricType);
SAME_SIZE(cupti_host_properties, type, CUpti_Profiler_Host_GetMetricProperties);
SAME(cupti_host_sub_metrics, type, CUpti_Profiler_Host_GetSubMetrics, metricType);
SAME(cupti_host_sub_metrics, metric, CUpti_Profiler_Host_GetSubMetrics, pMetricName);
SAME(cupti_host_sub_metrics, count, CUpti_Profiler_Host_GetSubMetrics, numOfSubmetrics);
SAME(cupti_host_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics, ppSubMetrics);
SAME_SIZE(cupti_host_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics);
SAME_SIZE(cupti_profiler_initialize, private, CUpti_Profiler_Initialize);
#endif
