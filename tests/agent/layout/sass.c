// SPDX-License-Identifier: BSD-2-Clause
// libcupti-usdt/cupti/cupti_sass.h, where a toolkit has SASS metrics (12.2 and later).
#include "tests/agent/layout/same.h"

#if __has_include(<cupti_sass_metrics.h>)
#include <cupti_sass_metrics.h>

#include "libcupti-usdt/cupti/cupti_sass.h"

SAME_NUMBER(CUPTI_SASS_OF_GPU, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU);
SAME_NUMBER(CUPTI_SASS_FLUSH_SIZE, CUpti_SassMetricsFlushData_Params_STRUCT_SIZE);
SAME_NUMBER(sizeof(struct cupti_sass_metric), sizeof(CUpti_SassMetrics_MetricDetails));
SAME_FIELD(cupti_sass_metric, id, CUpti_SassMetrics_MetricDetails, metricId);
SAME_FIELD(cupti_sass_metric, name, CUpti_SassMetrics_MetricDetails, pMetricName);
SAME_FIELD(cupti_sass_properties, chip, CUpti_SassMetrics_GetProperties_Params, pChipName);
SAME_FIELD(cupti_sass_properties, name, CUpti_SassMetrics_GetProperties_Params, pMetricName);
SAME_FIELD(cupti_sass_properties, metric, CUpti_SassMetrics_GetProperties_Params, metric);
SAME_SIZE(cupti_sass_properties, metric, CUpti_SassMetrics_GetProperties);
SAME_NUMBER(sizeof(struct cupti_sass_choice), sizeof(CUpti_SassMetrics_Config));
SAME_FIELD(cupti_sass_choice, granularity, CUpti_SassMetrics_Config, outputGranularity);
SAME_FIELD(cupti_sass_config, count, CUpti_SassMetricsSetConfig_Params, numOfMetricConfig);
SAME_FIELD(cupti_sass_config, choices, CUpti_SassMetricsSetConfig_Params, pConfigs);
SAME_FIELD(cupti_sass_config, device, CUpti_SassMetricsSetConfig_Params, deviceIndex);
SAME_SIZE(cupti_sass_config, device, CUpti_SassMetricsSetConfig);
SAME_FIELD(cupti_sass_unset, device, CUpti_SassMetricsUnsetConfig_Params, deviceIndex);
SAME_SIZE(cupti_sass_unset, device, CUpti_SassMetricsUnsetConfig);
SAME_FIELD(cupti_sass_enable, context, CUpti_SassMetricsEnable_Params, ctx);
SAME_FIELD(cupti_sass_enable, lazy, CUpti_SassMetricsEnable_Params, enableLazyPatching);
SAME_SIZE(cupti_sass_enable, lazy, CUpti_SassMetricsEnable);
SAME_FIELD(cupti_sass_disable, context, CUpti_SassMetricsDisable_Params, ctx);
SAME_FIELD(cupti_sass_disable, dropped, CUpti_SassMetricsDisable_Params, numOfDroppedRecords);
SAME_SIZE(cupti_sass_disable, dropped, CUpti_SassMetricsDisable);
SAME_FIELD(cupti_sass_extent, context, CUpti_SassMetricsGetDataProperties_Params, ctx);
SAME_FIELD(cupti_sass_extent, records, CUpti_SassMetricsGetDataProperties_Params,
	   numOfPatchedInstructionRecords);
SAME_FIELD(cupti_sass_extent, instances, CUpti_SassMetricsGetDataProperties_Params, numOfInstances);
SAME_SIZE(cupti_sass_extent, instances, CUpti_SassMetricsGetDataProperties);
SAME_NUMBER(sizeof(struct cupti_sass_value), sizeof(CUpti_SassMetrics_InstanceValue));
SAME_FIELD(cupti_sass_value, value, CUpti_SassMetrics_InstanceValue, value);
SAME_NUMBER(sizeof(struct cupti_sass_record), sizeof(CUpti_SassMetrics_Data));
SAME_FIELD(cupti_sass_record, cubin, CUpti_SassMetrics_Data, cubinCrc);
SAME_FIELD(cupti_sass_record, function_index, CUpti_SassMetrics_Data, functionIndex);
SAME_FIELD(cupti_sass_record, function, CUpti_SassMetrics_Data, functionName);
SAME_FIELD(cupti_sass_record, offset, CUpti_SassMetrics_Data, pcOffset);
SAME_FIELD(cupti_sass_record, values, CUpti_SassMetrics_Data, pInstanceValues);
SAME_FIELD(cupti_sass_flush, context, CUpti_SassMetricsFlushData_Params, ctx);
SAME_FIELD(cupti_sass_flush, records, CUpti_SassMetricsFlushData_Params,
	   numOfPatchedInstructionRecords);
SAME_FIELD(cupti_sass_flush, instances, CUpti_SassMetricsFlushData_Params, numOfInstances);
SAME_FIELD(cupti_sass_flush, data, CUpti_SassMetricsFlushData_Params, pMetricsData);
#endif
