// SPDX-License-Identifier: BSD-2-Clause
// The small questions that one may ask CUPTI, its attributes, and the call that must never be made.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cupti/tracer.h"

#define ATTRIBUTES 32

static _Atomic uint64_t attributes[ATTRIBUTES] = {
	[CUPTI_ATTRIBUTE_PER_THREAD_BUFFER] = 1, [0] = 3200000, [2] = 250, [3] = 25000, [4] = 1,
};
static _Atomic int thread_id_type;
static _Atomic uint32_t unified_counters; /* bit (1 << counter kind): configured */

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *device)
{
	struct simcuda_bridge *bridge = bridge__get();
	uint32_t id;

	if (!bridge)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (!context)
		context = bridge->current();
	return bridge->context_ids(context, &id, device) ? CUPTI_SUCCESS
							 : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	struct simcuda_bridge *bridge = bridge__get();
	uint32_t device;

	if (!bridge)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (!context)
		context = bridge->current();
	return bridge->context_ids(context, id, &device) ? CUPTI_SUCCESS
							 : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	struct simcuda_bridge *bridge = bridge__get();

	if (!bridge)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (!context)
		context = bridge->current();
	if (!stream && per_thread)
		stream = CU_STREAM_PER_THREAD;
	return bridge->stream_id(context, stream, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
	*id = bridge__get() ? bridge__get()->graph_id(graph) : 0;
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id)
{
	*id = bridge__get() ? bridge__get()->graph_exec_id(exec) : 0;
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
	*id = bridge__get() ? bridge__get()->graph_node_id(node) : 0;
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiDeviceSupported(CUdevice device, int *supported)
{
	if (!supported)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*supported = !settings__get()->no_records;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(int type)
{
	atomic_store(&thread_id_type, type);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(int *type)
{
	*type = atomic_load(&thread_id_type);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
	uint64_t number = 0;

	if (attribute < 0 || attribute >= ATTRIBUTES || !size || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!*size || *size > sizeof(number))
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	memcpy(&number, value, *size);
	atomic_store(&attributes[attribute], number);
	if (bridge__get())
		bridge__get()->log("attribute %d=%llu", attribute, (unsigned long long)number);
	return CUPTI_SUCCESS;
}

uint64_t attribute__get(int attribute)
{
	return atomic_load(&attributes[attribute]);
}

CUptiResult cuptiActivityGetAttribute(int attribute, size_t *size, void *value)
{
	uint64_t number;

	if (attribute < 0 || attribute >= ATTRIBUTES || !size || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!*size)
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	if (*size > sizeof(number))
		*size = sizeof(number);
	number = atomic_load(&attributes[attribute]);
	memcpy(value, &number, *size);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds)
{
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	return CUPTI_SUCCESS;
}

/* Unified memory cannot be watched before there is a context: seen on an H200, inside cuInit(). */
CUptiResult unified__ready(void)
{
	if (settings__get()->unified_error)
		return settings__get()->unified_error;
	return bridge__get()->has_context() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_READY;
}

/* Without this call there are no unified memory records, though enabling their kind succeeds. */
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(void *pointer, uint32_t count)
{
	const struct {
		uint32_t scope, kind, device, enable;
	} *config = pointer;

	if (!config || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!bridge__get())
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (unified__ready())
		return unified__ready();
	for (uint32_t i = 0; i < count; i++) {
		if (config[i].kind >= 32)
			return CUPTI_ERROR_INVALID_PARAMETER;
		if (config[i].enable)
			atomic_fetch_or(&unified_counters, 1U << config[i].kind);
		else
			atomic_fetch_and(&unified_counters, ~(1U << config[i].kind));
	}
	return CUPTI_SUCCESS;
}

bool unified__wanted(uint32_t counter)
{
	return atomic_load(&unified_counters) >> counter & 1;
}

CUptiResult cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
	fault__log("finalize");
	fprintf(stderr, "simcuda: cuptiFinalize was called\n");
	abort();
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const char *const texts[] = {
		[CUPTI_SUCCESS] = "CUPTI_SUCCESS",
		[CUPTI_ERROR_INVALID_PARAMETER] = "CUPTI_ERROR_INVALID_PARAMETER",
		[CUPTI_ERROR_INVALID_CONTEXT] = "CUPTI_ERROR_INVALID_CONTEXT",
		[CUPTI_ERROR_INVALID_OPERATION] = "CUPTI_ERROR_INVALID_OPERATION",
		[CUPTI_ERROR_MAX_LIMIT_REACHED] = "CUPTI_ERROR_MAX_LIMIT_REACHED",
		[CUPTI_ERROR_NOT_READY] = "CUPTI_ERROR_NOT_READY",
		[CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED] = "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED",
		[CUPTI_ERROR_NOT_COMPATIBLE] = "CUPTI_ERROR_NOT_COMPATIBLE",
		[CUPTI_ERROR_NOT_INITIALIZED] = "CUPTI_ERROR_NOT_INITIALIZED",
		[CUPTI_ERROR_INVALID_KIND] = "CUPTI_ERROR_INVALID_KIND",
		[CUPTI_ERROR_MULTIPLE_SUBSCRIBERS] =
			"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
	};

	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*text = "CUPTI_ERROR_UNKNOWN";
	if (result >= 0 && result < (int)(sizeof(texts) / sizeof(*texts)) && texts[result])
		*text = texts[result];
	return CUPTI_SUCCESS;
}
