// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same for libcupti-usdt/cupti/cupti_sass.h, where a toolkit has SASS metrics (12.2 and later).
 */
#include <stddef.h>

#include <cuda.h>
#include <cupti.h>

#if __has_include(<cupti_sass_metrics.h>)
#include <cupti_sass_metrics.h>

#include "libcupti-usdt/cupti/cupti_sass.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME(ours, field, theirs, their_field)                                          \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->field) ==                     \
				       sizeof(((theirs *)0)->their_field),              \
		       #ours "." #field " is not " #theirs "." #their_field)
#define SAME_SIZE(ours, last, theirs)                                            \
	_Static_assert(CUPTI_SIZE_OF(ours, last) == theirs##_Params_STRUCT_SIZE, \
		       #ours " does not end as " #theirs)

SAME_NUMBER(CUPTI_SASS_OF_GPU, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU);
SAME_NUMBER(CUPTI_SASS_FLUSH_SIZE, CUpti_SassMetricsFlushData_Params_STRUCT_SIZE);
SAME_NUMBER(sizeof(struct cupti_sass_metric), sizeof(CUpti_SassMetrics_MetricDetails));
SAME(cupti_sass_metric, id, CUpti_SassMetrics_MetricDetails, metricId);
SAME(cupti_sass_metric, name, CUpti_SassMetrics_MetricDetails, pMetricName);
SAME(cupti_sass_properties, chip, CUpti_SassMetrics_GetProperties_Params, pChipName);
SAME(cupti_sass_properties, name, CUpti_SassMetrics_GetProperties_Params, pMetricName);
SAME(cupti_sass_properties, metric, CUpti_SassMetrics_GetProperties_Params, metric);
SAME_SIZE(cupti_sass_properties, metric, CUpti_SassMetrics_GetProperties);
SAME_NUMBER(sizeof(struct cupti_sass_choice), sizeof(CUpti_SassMetrics_Config));
SAME(cupti_sass_choice, granularity, CUpti_SassMetrics_Config, outputGranularity);
SAME(cupti_sass_config, count, CUpti_SassMetricsSetConfig_Params, numOfMetricConfig);
SAME(cupti_sass_config, choices, CUpti_SassMetricsSetConfig_Params, pConfigs);
SAME(cupti_sass_config, device, CUpti_SassMetricsSetConfig_Params, deviceIndex);
SAME_SIZE(cupti_sass_config, device, CUpti_SassMetricsSetConfig);
SAME(cupti_sass_unset, device, CUpti_SassMetricsUnsetConfig_Params, deviceIndex);
SAME_SIZE(cupti_sass_unset, device, CUpti_SassMetricsUnsetConfig);
SAME(cupti_sass_enable, context, CUpti_SassMetricsEnable_Params, ctx);
SAME(cupti_sass_enable, lazy, CUpti_SassMetricsEnable_Params, enableLazyPatching);
SAME_SIZE(cupti_sass_enable, lazy, CUpti_SassMetricsEnable);
SAME(cupti_sass_disable, context, CUpti_SassMetricsDisable_Params, ctx);
SAME(cupti_sass_disable, dropped, CUpti_SassMetricsDisable_Params, numOfDroppedRecords);
SAME_SIZE(cupti_sass_disable, dropped, CUpti_SassMetricsDisable);
SAME(cupti_sass_extent, context, CUpti_SassMetricsGetDataProperties_Params, ctx);
SAME(cupti_sass_extent, records, CUpti_SassMetricsGetDataProperties_Params,
     numOfPatchedInstructionRecords);
SAME(cupti_sass_extent, instances, CUpti_SassMetricsGetDataProperties_Params, numOfInstances);
SAME_SIZE(cupti_sass_extent, instances, CUpti_SassMetricsGetDataProperties);
SAME_NUMBER(sizeof(struct cupti_sass_value), sizeof(CUpti_SassMetrics_InstanceValue));
SAME(cupti_sass_value, value, CUpti_SassMetrics_InstanceValue, value);
SAME_NUMBER(sizeof(struct cupti_sass_record), sizeof(CUpti_SassMetrics_Data));
SAME(cupti_sass_record, cubin, CUpti_SassMetrics_Data, cubinCrc);
SAME(cupti_sass_record, function_index, CUpti_SassMetrics_Data, functionIndex);
SAME(cupti_sass_record, function, CUpti_SassMetrics_Data, functionName);
SAME(cupti_sass_record, offset, CUpti_SassMetrics_Data, pcOffset);
SAME(cupti_sass_record, values, CUpti_SassMetrics_Data, pInstanceValues);
SAME(cupti_sass_flush, context, CUpti_SassMetricsFlushData_Params, ctx);
SAME(cupti_sass_flush, records, CUpti_SassMetricsFlushData_Params, numOfPatchedInstructionRecords);
SAME(cupti_sass_flush, instances, CUpti_SassMetricsFlushData_Params, numOfInstances);
SAME(cupti_sass_flush, data, CUpti_SassMetricsFlushData_Params, pMetricsData);
#endif
