// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares every number and offset that the agent declares for itself with a CUDA toolkit's own
 * headers. Compiled by `make check-layout`, never run: a difference is a compile error. Headers of
 * any CUDA from 11.8 on do; what a toolkit does not have yet is not compared.
 */
#include <stddef.h>

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <nvtx3/nvToolsExt.h>
#include <generated_nvtx_meta.h>

#include "bpf/event.h"
#include "libcupti-usdt/cupti/call_argument_offsets.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/cupti/cupti_pc.h"
#include "libcupti-usdt/cupti/cupti_records.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME_FIELD(ours, field, theirs, their_field)                                    \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->field) <=                     \
				       sizeof(theirs) - offsetof(theirs, their_field),  \
		       #ours "." #field " is not " #theirs "." #their_field)
#define SAME_WIDTH(ours, field, theirs, their_field)                                            \
	SAME_FIELD(ours, field, theirs, their_field);                                           \
	_Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
		       #ours "." #field " is not as wide as " #theirs "." #their_field)

SAME_NUMBER(CUPTI_OK, CUPTI_SUCCESS);
SAME_NUMBER(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
SAME_NUMBER(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME_NUMBER(CUPTI_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_NUMBER(CUPTI_INVALID_CONTEXT, CUPTI_ERROR_INVALID_CONTEXT);
SAME_NUMBER(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME_NUMBER(CUPTI_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
SAME_NUMBER(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(CUPTI_NO_PRIVILEGE, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(CUPTI_NOT_READY, CUPTI_ERROR_NOT_READY);
SAME_NUMBER(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);

SAME_NUMBER(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_NUMBER(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME_NUMBER(CUPTI_DOMAIN_NVTX, CUPTI_CB_DOMAIN_NVTX);
SAME_NUMBER(CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME_NUMBER(CUPTI_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME_NUMBER(CUPTI_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME_NUMBER(CUPTI_RESOURCE_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_NUMBER(CUPTI_RESOURCE_GRAPH_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
SAME_NUMBER(CUPTI_RESOURCE_EXEC_CREATE_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
SAME_NUMBER(CUPTI_RESOURCE_EXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
SAME_NUMBER(CUPTI_RESOURCE_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME_WIDTH(cupti_module_data, size, CUpti_ModuleResourceData, cubinSize);
SAME_WIDTH(cupti_module_data, image, CUpti_ModuleResourceData, pCubin);
SAME_FIELD(cupti_resource_data, context, CUpti_ResourceData, context);
SAME_FIELD(cupti_resource_data, more, CUpti_ResourceData, resourceDescriptor);
SAME_NUMBER(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
SAME_NUMBER(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
SAME_NUMBER(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_NUMBER(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
#if CUPTI_API_VERSION >= 20
SAME_NUMBER(CUPTI_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
SAME_NUMBER(CUPTI_STATE_FATAL, CUPTI_CBID_STATE_FATAL_ERROR);
SAME_FIELD(cupti_state_data, result, CUpti_StateData, notification.result);
SAME_FIELD(cupti_state_data, message, CUpti_StateData, notification.message);
#endif

#define SAME_KIND(ours, name, number, ...) SAME_NUMBER(number, CUPTI_ACTIVITY_KIND_##name);
CUPTI_ACTIVITY_KINDS(SAME_KIND)
#define SAME_RECORD_FIELD(...) SAME_WIDTH(__VA_ARGS__);
CUPTI_RECORD_FIELDS(SAME_RECORD_FIELD)
SAME_NUMBER(CUPTI_UVM_CPU_FAULT, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);

#define SAME_DRIVER_CBID(name, number, shape) SAME_NUMBER(number, CUPTI_DRIVER_TRACE_CBID_##name);
DRIVER_LAUNCHES(SAME_DRIVER_CBID)
#define SAME_UNLOAD_CBID(name, number) SAME_NUMBER(number, CUPTI_DRIVER_TRACE_CBID_##name);
DRIVER_UNLOADS(SAME_UNLOAD_CBID)
DRIVER_INSTANTIATIONS(SAME_UNLOAD_CBID)
#if CUPTI_API_VERSION >= 130000
#define SAME_RUNTIME_CBID(name, number, shape) SAME_NUMBER(number, CUPTI_RUNTIME_TRACE_CBID_##name);
RUNTIME_LAUNCHES(SAME_RUNTIME_CBID)
#endif

SAME_WIDTH(cupti_callback_data, site, CUpti_CallbackData, callbackSite);
SAME_WIDTH(cupti_callback_data, function_name, CUpti_CallbackData, functionName);
SAME_WIDTH(cupti_callback_data, params, CUpti_CallbackData, functionParams);
SAME_WIDTH(cupti_callback_data, return_value, CUpti_CallbackData, functionReturnValue);
SAME_WIDTH(cupti_callback_data, symbol_name, CUpti_CallbackData, symbolName);
SAME_WIDTH(cupti_callback_data, context, CUpti_CallbackData, context);
SAME_WIDTH(cupti_callback_data, context_id, CUpti_CallbackData, contextUid);
SAME_WIDTH(cupti_callback_data, correlation_data, CUpti_CallbackData, correlationData);
SAME_WIDTH(cupti_callback_data, correlation, CUpti_CallbackData, correlationId);
SAME_WIDTH(cupti_resource_data, context, CUpti_ResourceData, context);
SAME_WIDTH(cupti_nvtx_data, function_name, CUpti_NvtxData, functionName);
SAME_WIDTH(cupti_nvtx_data, params, CUpti_NvtxData, functionParams);
SAME_WIDTH(cupti_nvtx_data, return_value, CUpti_NvtxData, functionReturnValue);
SAME_WIDTH(cupti_uvm_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME_WIDTH(cupti_uvm_config, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME_WIDTH(cupti_uvm_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME_WIDTH(cupti_uvm_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
_Static_assert(sizeof(struct cupti_uvm_config) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig),
	       "an array of them is passed");
#if CUPTI_API_VERSION >= 130000
SAME_WIDTH(cupti_subscriber_params, size, CUpti_SubscriberParams, structSize);
SAME_WIDTH(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
SAME_WIDTH(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
SAME_WIDTH(cupti_subscriber_params, old_size, CUpti_SubscriberParams, oldSubscriberSize);
#endif

/* The functions: an assignment of incompatible types is an error (-Werror). */
static inline void same_functions(void)
{
	CUptiResult (*flush)(uint32_t) = cuptiActivityFlushAll;
	CUptiResult (*next)(uint8_t *, size_t, CUpti_Activity **) = cuptiActivityGetNextRecord;
	CUptiResult (*dropped)(CUcontext, uint32_t, size_t *) = cuptiActivityGetNumDroppedRecords;
	CUptiResult (*callback)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
				CUpti_CallbackId) = cuptiEnableCallback;
	CUptiResult (*timestamp)(uint64_t *) = cuptiGetTimestamp;
	CUptiResult (*name)(CUpti_CallbackDomain, uint32_t, const char **) = cuptiGetCallbackName;

	CUptiResult (*device)(CUcontext, uint32_t *) = cuptiGetDeviceId;
	CUptiResult (*context)(CUcontext, uint32_t *) = cuptiGetContextId;
	CUptiResult (*checksum)(CUpti_ComputeCrcCallbackFunc) = cuptiRegisterComputeCrcCallback;
	void (*callback_of_it)(const void *, size_t, uint64_t *) =
		(CUpti_ComputeCrcCallbackFunc)NULL;

	(void)device, (void)context, (void)checksum, (void)callback_of_it;
	(void)flush, (void)next, (void)dropped, (void)callback, (void)timestamp, (void)name;
}

SAME_WIDTH(launch_params, function, cuLaunchKernel_params, f);
SAME_FIELD(launch_params, config.grid, cuLaunchKernel_params, gridDimX);
SAME_FIELD(launch_params, config.block, cuLaunchKernel_params, blockDimX);
SAME_WIDTH(launch_params, config.shared, cuLaunchKernel_params, sharedMemBytes);
SAME_WIDTH(launch_params, config.stream, cuLaunchKernel_params, hStream);
SAME_FIELD(launch_params, config.grid, cuLaunchCooperativeKernel_params, gridDimX);
SAME_WIDTH(launch_params, config.stream, cuLaunchCooperativeKernel_params, hStream);
SAME_WIDTH(launch_params, config.stream, cuLaunchCooperativeKernel_ptsz_params, hStream);
SAME_WIDTH(launch_params, config.stream, cuLaunchKernel_ptsz_params, hStream);
SAME_WIDTH(launch_ex_params, config, cuLaunchKernelEx_params, config);
SAME_WIDTH(launch_ex_params, function, cuLaunchKernelEx_params, f);
SAME_WIDTH(launch_ex_params, config, cuLaunchKernelEx_ptsz_params, config);
SAME_WIDTH(graph_params, graph, cuGraphLaunch_params, hGraph);
SAME_WIDTH(graph_params, stream, cuGraphLaunch_params, hStream);
SAME_WIDTH(graph_params, stream, cuGraphLaunch_ptsz_params, hStream);
SAME_WIDTH(graph_add_params, about, cuGraphAddKernelNode_params, nodeParams);
SAME_WIDTH(graph_add_params, about, cuGraphAddKernelNode_v2_params, nodeParams);
SAME_WIDTH(graph_add_params, about, cuGraphAddNode_params, nodeParams);
SAME_WIDTH(graph_add_params, about_v2, cuGraphAddNode_v2_params, nodeParams);
SAME_WIDTH(graph_update_params, exec, cuGraphExecUpdate_params, hGraphExec);
SAME_WIDTH(graph_update_params, graph, cuGraphExecUpdate_params, hGraph);
SAME_WIDTH(graph_update_params, graph, cuGraphExecUpdate_v2_params, hGraph);
SAME_WIDTH(graph_set_params, node, cuGraphKernelNodeSetParams_v2_params, hNode);
SAME_WIDTH(graph_set_params, about, cuGraphKernelNodeSetParams_params, nodeParams);
SAME_WIDTH(graph_set_params, about, cuGraphKernelNodeSetParams_v2_params, nodeParams);
SAME_WIDTH(graph_set_params, about, cuGraphNodeSetParams_params, nodeParams);
SAME_WIDTH(graph_exec_set_params, exec, cuGraphExecKernelNodeSetParams_v2_params, hGraphExec);
SAME_WIDTH(graph_exec_set_params, node, cuGraphExecNodeSetParams_params, hNode);
SAME_WIDTH(graph_exec_set_params, about, cuGraphExecKernelNodeSetParams_params, nodeParams);
SAME_WIDTH(graph_exec_set_params, about, cuGraphExecKernelNodeSetParams_v2_params, nodeParams);
SAME_WIDTH(graph_exec_set_params, about, cuGraphExecNodeSetParams_params, nodeParams);
SAME_WIDTH(graph_kernel, function, CUDA_KERNEL_NODE_PARAMS_v1, func);
SAME_WIDTH(graph_kernel, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
SAME_WIDTH(graph_kernel, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_WIDTH(graph_kernel, function, CUDA_KERNEL_NODE_PARAMS_v3, func);
SAME_WIDTH(graph_kernel, kernel, CUDA_KERNEL_NODE_PARAMS_v3, kern);
SAME_WIDTH(graph_node_params, type, CUgraphNodeParams, type);
SAME_FIELD(graph_node_params, kernel, CUgraphNodeParams, kernel);
SAME_FIELD(launch_config, grid, CUlaunchConfig, gridDimX);
SAME_FIELD(launch_config, block, CUlaunchConfig, blockDimX);
SAME_WIDTH(launch_config, shared, CUlaunchConfig, sharedMemBytes);
SAME_WIDTH(launch_config, stream, CUlaunchConfig, hStream);
SAME_FIELD(launch_config, grid, cudaLaunchConfig_t, gridDim);
SAME_FIELD(launch_config, block, cudaLaunchConfig_t, blockDim);
SAME_FIELD(launch_config, shared, cudaLaunchConfig_t, dynamicSmemBytes);
SAME_WIDTH(launch_config, stream, cudaLaunchConfig_t, stream);
SAME_FIELD(runtime_params, grid, cudaLaunchKernel_v7000_params, gridDim);
SAME_FIELD(runtime_params, block, cudaLaunchKernel_v7000_params, blockDim);
SAME_WIDTH(runtime_params, shared, cudaLaunchKernel_v7000_params, sharedMem);
SAME_WIDTH(runtime_params, stream, cudaLaunchKernel_v7000_params, stream);
SAME_WIDTH(runtime_params, stream, cudaLaunchKernel_ptsz_v7000_params, stream);
SAME_WIDTH(runtime_params, stream, cudaLaunchCooperativeKernel_v9000_params, stream);
SAME_WIDTH(launch_ex_params, config, cudaLaunchKernelExC_v11060_params, config);
SAME_WIDTH(graph_params, stream, cudaGraphLaunch_v10000_params, stream);

/* What a toolkit before 13.0 does not have of these is not worth its own list. */
#if CUPTI_API_VERSION >= 130000
#define AT(member, at, bytes)                                            \
	_Static_assert(offsetof(params, member) == (at) &&               \
			       sizeof(((params *)0)->member) == (bytes), \
		       #member " is not at " #at);
#define BYTES(member, at)   AT(member, at, 8)
#define TIMES(member, at)   AT(member, at, 8)
#define ADDRESS(member, at) AT(member, at, 8)
#define KIND(member, at)    AT(member, at, 4)
#define DEVICE(member, at)  AT(member, at, 4)
#define VALUE		    AT
#define UNIT(n)
#define DIRECTION(kind)                                                     \
	_Static_assert((kind) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ||         \
			       (kind) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH || \
			       (kind) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD || \
			       (kind) == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,   \
		       "a direction");
/* Each joins the name itself: cuda.h makes macros of some. */
#define SAME_DRIVER_ARGUMENTS(name, number, what)            \
	SAME_NUMBER(number, CUPTI_DRIVER_TRACE_CBID_##name); \
	static inline void arguments_of_##name(void)         \
	{                                                    \
		typedef name##_params params;                \
		what                                         \
	}
#define SAME_RUNTIME_ARGUMENTS(name, number, what)            \
	SAME_NUMBER(number, CUPTI_RUNTIME_TRACE_CBID_##name); \
	static inline void arguments_of_##name(void)          \
	{                                                     \
		typedef name##_params params;                 \
		what                                          \
	}
DRIVER_ARGUMENTS(SAME_DRIVER_ARGUMENTS)
RUNTIME_ARGUMENTS(SAME_RUNTIME_ARGUMENTS)
#endif

#define SAME_NVTX_CBID(name, number) SAME_NUMBER(number, CUPTI_CBID_NVTX_nvtx##name);
NVTX_CALLS(SAME_NVTX_CBID)
SAME_NUMBER(NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME_NUMBER(NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME_WIDTH(nvtx_attributes, size, nvtxEventAttributes_t, size);
SAME_WIDTH(nvtx_attributes, category, nvtxEventAttributes_t, category);
SAME_WIDTH(nvtx_attributes, color_type, nvtxEventAttributes_t, colorType);
SAME_WIDTH(nvtx_attributes, color, nvtxEventAttributes_t, color);
SAME_WIDTH(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
SAME_WIDTH(nvtx_attributes, message, nvtxEventAttributes_t, message);
SAME_WIDTH(nvtx_domain_params, domain, nvtxDomainRangePushEx_params, domain);
SAME_WIDTH(nvtx_domain_params, attributes, nvtxDomainRangePushEx_params, core);
SAME_WIDTH(nvtx_domain_params, attributes, nvtxDomainMarkEx_params, core);
SAME_WIDTH(nvtx_domain_params, range, nvtxDomainRangeEnd_params, core);
SAME_WIDTH(nvtx_domain_params, text, nvtxDomainRegisterStringA_params, string);
SAME_WIDTH(nvtx_attributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_WIDTH(nvtx_attributes, reserved, nvtxEventAttributes_t, reserved0);
SAME_WIDTH(nvtx_attributes, payload, nvtxEventAttributes_t, payload);
SAME_NUMBER((int)CUDA_NVTX_UINT64, (int)NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME_NUMBER((int)CUDA_NVTX_INT64, (int)NVTX_PAYLOAD_TYPE_INT64);
SAME_NUMBER((int)CUDA_NVTX_DOUBLE, (int)NVTX_PAYLOAD_TYPE_DOUBLE);
SAME_NUMBER((int)CUDA_NVTX_UINT32, (int)NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME_NUMBER((int)CUDA_NVTX_INT32, (int)NVTX_PAYLOAD_TYPE_INT32);
SAME_NUMBER((int)CUDA_NVTX_FLOAT, (int)NVTX_PAYLOAD_TYPE_FLOAT);
SAME_WIDTH(nvtx_category_params, category, nvtxNameCategoryA_params, category);
SAME_WIDTH(nvtx_category_params, text, nvtxNameCategoryA_params, name);

/* PC sampling: no agent uses it before 12.6. */
#if CUPTI_API_VERSION >= 24
SAME_NUMBER(CUPTI_PC_REASON_NAME, CUPTI_STALL_REASON_STRING_SIZE);
#define SAME_PC(ours, theirs) SAME_NUMBER(ours, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_##theirs)
SAME_PC(CUPTI_PC_PERIOD, SAMPLING_PERIOD);
SAME_PC(CUPTI_PC_REASONS, STALL_REASON);
SAME_PC(CUPTI_PC_SCRATCH_BYTES, SCRATCH_BUFFER_SIZE);
SAME_PC(CUPTI_PC_BUFFER_BYTES, HARDWARE_BUFFER_SIZE);
SAME_PC(CUPTI_PC_MODE, COLLECTION_MODE);
SAME_PC(CUPTI_PC_START_STOP, ENABLE_START_STOP_CONTROL);
SAME_PC(CUPTI_PC_FORMAT, OUTPUT_DATA_FORMAT);
SAME_PC(CUPTI_PC_DATA, SAMPLING_DATA_BUFFER);
SAME_PC(CUPTI_PC_WORKER_MS, WORKER_THREAD_PERIODIC_SLEEP_SPAN);
SAME_NUMBER(CUPTI_PC_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
SAME_NUMBER(CUPTI_PC_PARSED, CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED);

#define SAME_SIZE(ours, last, theirs) SAME_NUMBER(CUPTI_PC_SIZE(struct ours, last), theirs##Size)
SAME_SIZE(cupti_pc_context, context, CUpti_PCSamplingEnableParams);
SAME_SIZE(cupti_pc_context, context, CUpti_PCSamplingDisableParams);
SAME_SIZE(cupti_pc_context, context, CUpti_PCSamplingStartParams);
SAME_SIZE(cupti_pc_context, context, CUpti_PCSamplingStopParams);
SAME_WIDTH(cupti_pc_context, context, CUpti_PCSamplingStartParams, ctx);
SAME_SIZE(cupti_pc_reason_count, count, CUpti_PCSamplingGetNumStallReasonsParams);
SAME_WIDTH(cupti_pc_reason_count, count, CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons);
SAME_SIZE(cupti_pc_reasons, names, CUpti_PCSamplingGetStallReasonsParams);
SAME_WIDTH(cupti_pc_reasons, count, CUpti_PCSamplingGetStallReasonsParams, numStallReasons);
SAME_WIDTH(cupti_pc_reasons, indexes, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
SAME_WIDTH(cupti_pc_reasons, names, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
SAME_SIZE(cupti_pc_configuration, attributes, CUpti_PCSamplingConfigurationInfoParams);
SAME_WIDTH(cupti_pc_configuration, count, CUpti_PCSamplingConfigurationInfoParams, numAttributes);
SAME_WIDTH(cupti_pc_configuration, attributes, CUpti_PCSamplingConfigurationInfoParams,
	   pPCSamplingConfigurationInfo);
SAME_WIDTH(cupti_pc_attribute, type, CUpti_PCSamplingConfigurationInfo, attributeType);
SAME_WIDTH(cupti_pc_attribute, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME_WIDTH(cupti_pc_attribute, number, CUpti_PCSamplingConfigurationInfo,
	   attributeData.samplingPeriodData.samplingPeriod);
SAME_WIDTH(cupti_pc_attribute, bytes, CUpti_PCSamplingConfigurationInfo,
	   attributeData.hardwareBufferSizeData.hardwareBufferSize);
SAME_WIDTH(cupti_pc_attribute, data, CUpti_PCSamplingConfigurationInfo,
	   attributeData.samplingDataBufferData.samplingDataBuffer);
SAME_WIDTH(cupti_pc_attribute, reasons.count, CUpti_PCSamplingConfigurationInfo,
	   attributeData.stallReasonData.stallReasonCount);
SAME_WIDTH(cupti_pc_attribute, reasons.indexes, CUpti_PCSamplingConfigurationInfo,
	   attributeData.stallReasonData.pStallReasonIndex);
SAME_NUMBER(sizeof(struct cupti_pc_attribute), sizeof(CUpti_PCSamplingConfigurationInfo));
SAME_NUMBER(sizeof(struct cupti_pc_stall), sizeof(CUpti_PCSamplingStallReason));
SAME_WIDTH(cupti_pc_stall, samples, CUpti_PCSamplingStallReason, samples);
SAME_NUMBER(sizeof(struct cupti_pc_record), sizeof(CUpti_PCSamplingPCData));
SAME_WIDTH(cupti_pc_record, size, CUpti_PCSamplingPCData, size);
SAME_WIDTH(cupti_pc_record, cubin, CUpti_PCSamplingPCData, cubinCrc);
SAME_WIDTH(cupti_pc_record, offset, CUpti_PCSamplingPCData, pcOffset);
SAME_WIDTH(cupti_pc_record, function, CUpti_PCSamplingPCData, functionName);
SAME_WIDTH(cupti_pc_record, stall_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME_WIDTH(cupti_pc_record, stalls, CUpti_PCSamplingPCData, stallReason);
SAME_WIDTH(cupti_pc_record, correlation, CUpti_PCSamplingPCData, correlationId);
SAME_NUMBER(sizeof(struct cupti_pc_data), sizeof(CUpti_PCSamplingData));
SAME_WIDTH(cupti_pc_data, capacity, CUpti_PCSamplingData, collectNumPcs);
SAME_WIDTH(cupti_pc_data, total, CUpti_PCSamplingData, totalSamples);
SAME_WIDTH(cupti_pc_data, dropped, CUpti_PCSamplingData, droppedSamples);
SAME_WIDTH(cupti_pc_data, count, CUpti_PCSamplingData, totalNumPcs);
SAME_WIDTH(cupti_pc_data, remaining, CUpti_PCSamplingData, remainingNumPcs);
SAME_WIDTH(cupti_pc_data, range, CUpti_PCSamplingData, rangeId);
SAME_WIDTH(cupti_pc_data, records, CUpti_PCSamplingData, pPcData);
SAME_WIDTH(cupti_pc_data, other, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME_WIDTH(cupti_pc_data, full, CUpti_PCSamplingData, hardwareBufferFull);
SAME_SIZE(cupti_pc_get, data, CUpti_PCSamplingGetDataParams);
SAME_WIDTH(cupti_pc_get, data, CUpti_PCSamplingGetDataParams, pcSamplingData);
SAME_SIZE(cupti_source_line, folder, CUpti_GetSassToSourceCorrelationParams);
SAME_WIDTH(cupti_source_line, cubin, CUpti_GetSassToSourceCorrelationParams, cubin);
SAME_WIDTH(cupti_source_line, function, CUpti_GetSassToSourceCorrelationParams, functionName);
SAME_WIDTH(cupti_source_line, cubin_size, CUpti_GetSassToSourceCorrelationParams, cubinSize);
SAME_WIDTH(cupti_source_line, line, CUpti_GetSassToSourceCorrelationParams, lineNumber);
SAME_WIDTH(cupti_source_line, offset, CUpti_GetSassToSourceCorrelationParams, pcOffset);
SAME_WIDTH(cupti_source_line, file, CUpti_GetSassToSourceCorrelationParams, fileName);
SAME_WIDTH(cupti_source_line, folder, CUpti_GetSassToSourceCorrelationParams, dirName);
SAME_SIZE(cupti_cubin_checksum, checksum, CUpti_GetCubinCrcParams);
SAME_WIDTH(cupti_cubin_checksum, cubin, CUpti_GetCubinCrcParams, cubin);
SAME_WIDTH(cupti_cubin_checksum, checksum, CUpti_GetCubinCrcParams, cubinCrc);
#endif

/* Records: a revision of 11.8 or before, then the newest that the toolkit has. */
#define KERNEL_FIELDS(theirs)                                                     \
	SAME_WIDTH(cupti_kernel, kind, theirs, kind);                             \
	SAME_WIDTH(cupti_kernel, registers, theirs, registersPerThread);          \
	SAME_WIDTH(cupti_kernel, start, theirs, start);                           \
	SAME_WIDTH(cupti_kernel, end, theirs, end);                               \
	SAME_WIDTH(cupti_kernel, device, theirs, deviceId);                       \
	SAME_WIDTH(cupti_kernel, context, theirs, contextId);                     \
	SAME_WIDTH(cupti_kernel, stream, theirs, streamId);                       \
	SAME_FIELD(cupti_kernel, grid, theirs, gridX);                            \
	SAME_FIELD(cupti_kernel, block, theirs, blockX);                          \
	SAME_WIDTH(cupti_kernel, static_shared, theirs, staticSharedMemory);      \
	SAME_WIDTH(cupti_kernel, dynamic_shared, theirs, dynamicSharedMemory);    \
	SAME_WIDTH(cupti_kernel, local_per_thread, theirs, localMemoryPerThread); \
	SAME_WIDTH(cupti_kernel, correlation, theirs, correlationId);             \
	SAME_WIDTH(cupti_kernel, name, theirs, name);                             \
	SAME_WIDTH(cupti_kernel, launch_type, theirs, launchType);                \
	SAME_WIDTH(cupti_kernel, graph_node, theirs, graphNodeId);                \
	SAME_WIDTH(cupti_kernel, graph, theirs, graphId)
KERNEL_FIELDS(CUpti_ActivityKernel8);
#if CUPTI_API_VERSION >= 130000
KERNEL_FIELDS(CUpti_ActivityKernel10);
#endif

#define MEMCPY_FIELDS(theirs)                                         \
	SAME_WIDTH(cupti_memcpy, copy_kind, theirs, copyKind);        \
	SAME_WIDTH(cupti_memcpy, src_kind, theirs, srcKind);          \
	SAME_WIDTH(cupti_memcpy, dst_kind, theirs, dstKind);          \
	SAME_WIDTH(cupti_memcpy, flags, theirs, flags);               \
	SAME_WIDTH(cupti_memcpy, bytes, theirs, bytes);               \
	SAME_WIDTH(cupti_memcpy, start, theirs, start);               \
	SAME_WIDTH(cupti_memcpy, end, theirs, end);                   \
	SAME_WIDTH(cupti_memcpy, device, theirs, deviceId);           \
	SAME_WIDTH(cupti_memcpy, context, theirs, contextId);         \
	SAME_WIDTH(cupti_memcpy, stream, theirs, streamId);           \
	SAME_WIDTH(cupti_memcpy, correlation, theirs, correlationId); \
	SAME_WIDTH(cupti_memcpy, graph_node, theirs, graphNodeId);    \
	SAME_WIDTH(cupti_memcpy, graph, theirs, graphId)
MEMCPY_FIELDS(CUpti_ActivityMemcpy5);
#if CUPTI_API_VERSION >= 26
MEMCPY_FIELDS(CUpti_ActivityMemcpy6);
SAME_WIDTH(cupti_memcpy, copies, CUpti_ActivityMemcpy6, copyCount);
#endif

SAME_WIDTH(cupti_memcpy_peer, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME_WIDTH(cupti_memcpy_peer, start, CUpti_ActivityMemcpyPtoP4, start);
SAME_WIDTH(cupti_memcpy_peer, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME_WIDTH(cupti_memcpy_peer, src_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME_WIDTH(cupti_memcpy_peer, src_context, CUpti_ActivityMemcpyPtoP4, srcContextId);
SAME_WIDTH(cupti_memcpy_peer, dst_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME_WIDTH(cupti_memcpy_peer, dst_context, CUpti_ActivityMemcpyPtoP4, dstContextId);
SAME_WIDTH(cupti_memcpy_peer, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME_WIDTH(cupti_memcpy_peer, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME_WIDTH(cupti_memcpy_peer, graph, CUpti_ActivityMemcpyPtoP4, graphId);

SAME_WIDTH(cupti_memset, value, CUpti_ActivityMemset4, value);
SAME_WIDTH(cupti_memset, bytes, CUpti_ActivityMemset4, bytes);
SAME_WIDTH(cupti_memset, start, CUpti_ActivityMemset4, start);
SAME_WIDTH(cupti_memset, device, CUpti_ActivityMemset4, deviceId);
SAME_WIDTH(cupti_memset, stream, CUpti_ActivityMemset4, streamId);
SAME_WIDTH(cupti_memset, correlation, CUpti_ActivityMemset4, correlationId);
SAME_WIDTH(cupti_memset, flags, CUpti_ActivityMemset4, flags);
SAME_WIDTH(cupti_memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME_WIDTH(cupti_memset, graph_node, CUpti_ActivityMemset4, graphNodeId);
SAME_WIDTH(cupti_memset, graph, CUpti_ActivityMemset4, graphId);

SAME_WIDTH(cupti_memory, operation, CUpti_ActivityMemory3, memoryOperationType);
SAME_WIDTH(cupti_memory, memory_kind, CUpti_ActivityMemory3, memoryKind);
SAME_WIDTH(cupti_memory, correlation, CUpti_ActivityMemory3, correlationId);
SAME_WIDTH(cupti_memory, address, CUpti_ActivityMemory3, address);
SAME_WIDTH(cupti_memory, bytes, CUpti_ActivityMemory3, bytes);
SAME_WIDTH(cupti_memory, time, CUpti_ActivityMemory3, timestamp);
SAME_WIDTH(cupti_memory, pc, CUpti_ActivityMemory3, PC);
SAME_WIDTH(cupti_memory, device, CUpti_ActivityMemory3, deviceId);
SAME_WIDTH(cupti_memory, context, CUpti_ActivityMemory3, contextId);
SAME_WIDTH(cupti_memory, stream, CUpti_ActivityMemory3, streamId);
SAME_WIDTH(cupti_memory, name, CUpti_ActivityMemory3, name);
SAME_WIDTH(cupti_memory, asynchronous, CUpti_ActivityMemory3, isAsync);
SAME_FIELD(cupti_memory, pool_type, CUpti_ActivityMemory3, memoryPoolConfig.memoryPoolType);
SAME_FIELD(cupti_memory, pool_address, CUpti_ActivityMemory3, memoryPoolConfig.address);
SAME_FIELD(cupti_memory, pool_size, CUpti_ActivityMemory3, memoryPoolConfig.pool.size);
SAME_FIELD(cupti_memory, pool_used, CUpti_ActivityMemory3, memoryPoolConfig.utilizedSize);

SAME_WIDTH(cupti_memory_pool, operation, CUpti_ActivityMemoryPool2, memoryPoolOperationType);
SAME_WIDTH(cupti_memory_pool, type, CUpti_ActivityMemoryPool2, memoryPoolType);
SAME_WIDTH(cupti_memory_pool, correlation, CUpti_ActivityMemoryPool2, correlationId);
SAME_WIDTH(cupti_memory_pool, device, CUpti_ActivityMemoryPool2, deviceId);
SAME_WIDTH(cupti_memory_pool, keep, CUpti_ActivityMemoryPool2, minBytesToKeep);
SAME_WIDTH(cupti_memory_pool, address, CUpti_ActivityMemoryPool2, address);
SAME_WIDTH(cupti_memory_pool, size, CUpti_ActivityMemoryPool2, size);
SAME_WIDTH(cupti_memory_pool, threshold, CUpti_ActivityMemoryPool2, releaseThreshold);
SAME_WIDTH(cupti_memory_pool, time, CUpti_ActivityMemoryPool2, timestamp);
SAME_WIDTH(cupti_memory_pool, used, CUpti_ActivityMemoryPool2, utilizedSize);

SAME_WIDTH(cupti_sync, type, CUpti_ActivitySynchronization, type);
SAME_WIDTH(cupti_sync, start, CUpti_ActivitySynchronization, start);
SAME_WIDTH(cupti_sync, end, CUpti_ActivitySynchronization, end);
SAME_WIDTH(cupti_sync, correlation, CUpti_ActivitySynchronization, correlationId);
SAME_WIDTH(cupti_sync, context, CUpti_ActivitySynchronization, contextId);
SAME_WIDTH(cupti_sync, stream, CUpti_ActivitySynchronization, streamId);
SAME_WIDTH(cupti_sync, event, CUpti_ActivitySynchronization, cudaEventId);
#if CUPTI_API_VERSION >= 26
SAME_WIDTH(cupti_sync, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
SAME_WIDTH(cupti_sync, result, CUpti_ActivitySynchronization2, returnValue);
#endif

SAME_WIDTH(cupti_graph_trace, correlation, CUpti_ActivityGraphTrace, correlationId);
SAME_WIDTH(cupti_graph_trace, start, CUpti_ActivityGraphTrace, start);
SAME_WIDTH(cupti_graph_trace, end, CUpti_ActivityGraphTrace, end);
SAME_WIDTH(cupti_graph_trace, device, CUpti_ActivityGraphTrace, deviceId);
SAME_WIDTH(cupti_graph_trace, graph, CUpti_ActivityGraphTrace, graphId);
SAME_WIDTH(cupti_graph_trace, context, CUpti_ActivityGraphTrace, contextId);
SAME_WIDTH(cupti_graph_trace, stream, CUpti_ActivityGraphTrace, streamId);
#if CUPTI_API_VERSION >= 22
SAME_WIDTH(cupti_graph_trace, end_device, CUpti_ActivityGraphTrace2, endDeviceId);
SAME_WIDTH(cupti_graph_trace, end_context, CUpti_ActivityGraphTrace2, endContextId);
#endif

SAME_WIDTH(cupti_overhead, overhead_kind, CUpti_ActivityOverhead, overheadKind);
SAME_WIDTH(cupti_overhead, object_kind, CUpti_ActivityOverhead, objectKind);
SAME_WIDTH(cupti_overhead, object, CUpti_ActivityOverhead, objectId);
SAME_WIDTH(cupti_overhead, start, CUpti_ActivityOverhead, start);
SAME_WIDTH(cupti_overhead, end, CUpti_ActivityOverhead, end);
#if CUPTI_API_VERSION >= 22
SAME_WIDTH(cupti_overhead, correlation, CUpti_ActivityOverhead3, correlationId);
#endif

SAME_WIDTH(cupti_jit, entry, CUpti_ActivityJit, jitEntryType);
SAME_WIDTH(cupti_jit, operation, CUpti_ActivityJit, jitOperationType);
SAME_WIDTH(cupti_jit, device, CUpti_ActivityJit, deviceId);
SAME_WIDTH(cupti_jit, start, CUpti_ActivityJit, start);
SAME_WIDTH(cupti_jit, correlation, CUpti_ActivityJit, correlationId);
SAME_WIDTH(cupti_jit, operation_id, CUpti_ActivityJit, jitOperationCorrelationId);
SAME_WIDTH(cupti_jit, cache_bytes, CUpti_ActivityJit, cacheSize);
SAME_WIDTH(cupti_jit, cache_path, CUpti_ActivityJit, cachePath);
#if CUPTI_API_VERSION >= 22
SAME_WIDTH(cupti_jit, thread, CUpti_ActivityJit2, threadId);
#endif

SAME_WIDTH(cupti_uvm, counter, CUpti_ActivityUnifiedMemoryCounter2, counterKind);
SAME_WIDTH(cupti_uvm, value, CUpti_ActivityUnifiedMemoryCounter2, value);
SAME_WIDTH(cupti_uvm, start, CUpti_ActivityUnifiedMemoryCounter2, start);
SAME_WIDTH(cupti_uvm, end, CUpti_ActivityUnifiedMemoryCounter2, end);
SAME_WIDTH(cupti_uvm, address, CUpti_ActivityUnifiedMemoryCounter2, address);
SAME_WIDTH(cupti_uvm, source, CUpti_ActivityUnifiedMemoryCounter2, srcId);
SAME_WIDTH(cupti_uvm, destination, CUpti_ActivityUnifiedMemoryCounter2, dstId);
SAME_WIDTH(cupti_uvm, stream, CUpti_ActivityUnifiedMemoryCounter2, streamId);
SAME_WIDTH(cupti_uvm, flags, CUpti_ActivityUnifiedMemoryCounter2, flags);

SAME_WIDTH(cupti_device, memory, CUpti_ActivityDevice4, globalMemorySize);
SAME_WIDTH(cupti_device, core_clock, CUpti_ActivityDevice4, coreClockRate);
SAME_WIDTH(cupti_device, multiprocessors, CUpti_ActivityDevice4, numMultiprocessors);
SAME_WIDTH(cupti_device, major, CUpti_ActivityDevice4, computeCapabilityMajor);
SAME_WIDTH(cupti_device, minor, CUpti_ActivityDevice4, computeCapabilityMinor);
SAME_WIDTH(cupti_device, id, CUpti_ActivityDevice4, id);
SAME_WIDTH(cupti_device, uuid, CUpti_ActivityDevice4, uuid);
SAME_WIDTH(cupti_device, name, CUpti_ActivityDevice4, name);
SAME_WIDTH(cupti_device, mig, CUpti_ActivityDevice4, isMigEnabled);
SAME_WIDTH(cupti_device, gpu_instance, CUpti_ActivityDevice4, gpuInstanceId);
SAME_WIDTH(cupti_device, compute_instance, CUpti_ActivityDevice4, computeInstanceId);
SAME_WIDTH(cupti_device, mig_uuid, CUpti_ActivityDevice4, migUuid);

SAME_WIDTH(cupti_context, context, CUpti_ActivityContext, contextId);
SAME_WIDTH(cupti_context, device, CUpti_ActivityContext, deviceId);
SAME_WIDTH(cupti_context, null_stream, CUpti_ActivityContext, nullStreamId);
#if CUPTI_API_VERSION >= 22
SAME_WIDTH(cupti_context, parent, CUpti_ActivityContext2, parentContextId);
SAME_WIDTH(cupti_context, green, CUpti_ActivityContext2, isGreenContext);
SAME_WIDTH(cupti_context, multiprocessors, CUpti_ActivityContext2, numMultiprocessors);
#endif

/* What source driver reads of copies. */
SAME_NUMBER(DRIVER_RECTANGLE_FROM, offsetof(CUDA_MEMCPY2D, srcMemoryType));
SAME_NUMBER(DRIVER_RECTANGLE_TO, offsetof(CUDA_MEMCPY2D, dstMemoryType));
SAME_NUMBER(DRIVER_RECTANGLE_EXTENT, offsetof(CUDA_MEMCPY2D, WidthInBytes));
SAME_NUMBER(DRIVER_RECTANGLE_EXTENT + 8, offsetof(CUDA_MEMCPY2D, Height));
SAME_NUMBER(DRIVER_BOX_FROM, offsetof(CUDA_MEMCPY3D, srcMemoryType));
SAME_NUMBER(DRIVER_BOX_TO, offsetof(CUDA_MEMCPY3D, dstMemoryType));
SAME_NUMBER(DRIVER_BOX_EXTENT, offsetof(CUDA_MEMCPY3D, WidthInBytes));
SAME_NUMBER(DRIVER_BOX_EXTENT + 8, offsetof(CUDA_MEMCPY3D, Height));
SAME_NUMBER(DRIVER_BOX_EXTENT + 16, offsetof(CUDA_MEMCPY3D, Depth));
SAME_NUMBER(DRIVER_BOX_FROM, offsetof(CUDA_MEMCPY3D_PEER, srcMemoryType));
SAME_NUMBER(DRIVER_BOX_TO, offsetof(CUDA_MEMCPY3D_PEER, dstMemoryType));
SAME_NUMBER(DRIVER_BOX_EXTENT, offsetof(CUDA_MEMCPY3D_PEER, WidthInBytes));
