/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcupti as the agent uses it: own declarations of the functions that it calls, the numbers it
 * uses, and the data it gets in callbacks. None of NVIDIA's headers is needed to build; where a
 * toolkit is installed, `make check-layout` compares every line here with its headers.
 * The records of the activity API are in cupti_records.h.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_API_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_API_H

#include <stddef.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_pc.h"

/* CUptiResult */
#define CUPTI_OK		   0
#define CUPTI_INVALID_CONTEXT	   3
#define CUPTI_INVALID_OPERATION	   7
#define CUPTI_OUT_OF_MEMORY	   8
#define CUPTI_HARDWARE_BUSY	   26
#define CUPTI_NOT_COMPATIBLE	   14
#define CUPTI_NOT_INITIALIZED	   15
#define CUPTI_LIMIT_REACHED	   12
#define CUPTI_NOT_READY		   13
#define CUPTI_MULTIPLE_SUBSCRIBERS 39
#define CUPTI_NO_PRIVILEGE	   35

/* cuptiGetVersion(): 18 is 11.8 and also 12.0 and 12.1; MMmmpp from 13.0 on. */
#define CUPTI_VERSION_11_8 18
#define CUPTI_VERSION_12_4 22
#define CUPTI_VERSION_12_6 24
#define CUPTI_VERSION_12_8 26
#define CUPTI_VERSION_13_0 130000
#define CUPTI_VERSION_13_2 130200

/* CUpti_CallbackDomain */
#define CUPTI_DOMAIN_DRIVER			1
#define CUPTI_DOMAIN_RUNTIME			2
#define CUPTI_DOMAIN_RESOURCE			3
#define CUPTI_DOMAIN_NVTX			5
#define CUPTI_DOMAIN_STATE			6

#define CUPTI_RESOURCE_CONTEXT_CREATED		1
#define CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING 2
#define CUPTI_RESOURCE_MODULE_LOADED		6
#define CUPTI_RESOURCE_GRAPH_DESTROY_STARTING	10
#define CUPTI_RESOURCE_NODE_CREATED		13
#define CUPTI_RESOURCE_EXEC_CREATE_STARTING	17
#define CUPTI_RESOURCE_EXEC_CREATED		18
#define CUPTI_RESOURCE_NODE_CLONED		20
#define CUPTI_STATE_FATAL			1

#define CUPTI_KINDS				64 /* of activity; none that is used is above */

#define CUPTI_SITE_ENTER			0
#define CUPTI_SITE_EXIT				1

#define CUPTI_FLUSH_FORCED			1

#define CUPTI_ATTRIBUTE_THREAD_BUFFERS		9 /* uint8_t; since 12.3, on since 13.0 */

#define CUPTI_THREAD_ID_SYSTEM			1

/* CUpti_CallbackData */
struct cupti_callback_data {
	int site;
	const char *function_name;
	const void *params;
	void *return_value;
	const char *symbol_name;
	void *context;
	uint32_t context_id;
	uint64_t *correlation_data;
	uint32_t correlation;
};

/* CUpti_ResourceData */
struct cupti_resource_data {
	void *context;
	void *object;
	void *more;
};

/* CUpti_ModuleResourceData */
struct cupti_module_data {
	uint32_t id;
	size_t size;
	const void *image;
};

/* CUpti_GraphData */
struct cupti_graph_data {
	void *graph, *original_graph;
	void *node, *original_node;
	int node_type;
	void *dependency;
	void *exec;
};

/* CUpti_NvtxData, CUpti_StateData */
struct cupti_nvtx_data {
	const char *function_name;
	const void *params;
	const void *return_value;
};

struct cupti_state_data {
	int result;
	const char *message;
};

/* CUpti_SubscriberParams as of 13.0 */
struct cupti_subscriber_params {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
};

#define CUPTI_UVM_CPU_FAULT 3 /* CUpti_ActivityUnifiedMemoryCounterKind */

/* CUpti_ActivityUnifiedMemoryCounterConfig */
struct cupti_uvm_config {
	int scope;
	int kind;
	uint32_t device;
	uint32_t enable;
};

typedef void (*cupti_callback)(void *userdata, int domain, uint32_t cbid, const void *data);
typedef void (*cupti_buffer_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_buffer_completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				       size_t valid);

/* X(required, name, parameters): every function of libcupti that is called. */
#define CUPTI_FUNCTIONS(X)                                                                       \
	X(1, GetVersion, (uint32_t * version))                                                   \
	X(1, GetResultString, (int result, const char **text))                                   \
	X(1, GetTimestamp, (uint64_t * timestamp))                                               \
	X(1, Subscribe, (void **subscriber, cupti_callback, void *userdata))                     \
	X(0, Subscribe_v2,                                                                       \
	  (void **subscriber, cupti_callback, void *userdata, struct cupti_subscriber_params *)) \
	X(1, Unsubscribe, (void *subscriber))                                                    \
	X(1, EnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t cbid))     \
	X(1, EnableDomain, (uint32_t enable, void *subscriber, int domain))                      \
	X(0, GetCallbackName, (int domain, uint32_t cbid, const char **name))                    \
	X(1, ActivityRegisterCallbacks, (cupti_buffer_requested, cupti_buffer_completed))        \
	X(0, ActivityGetAttribute, (int attribute, size_t *size, void *value))                   \
	X(0, ActivitySetAttribute, (int attribute, size_t *size, void *value))                   \
	X(1, ActivityEnable, (int kind))                                                         \
	X(0, ActivityEnableAndDump, (int kind))                                                  \
	X(1, ActivityDisable, (int kind))                                                        \
	X(1, ActivityFlushAll, (uint32_t flag))                                                  \
	X(1, ActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))             \
	X(1, ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))    \
	X(0, ActivityConfigureUnifiedMemoryCounter,                                              \
	  (struct cupti_uvm_config * config, uint32_t count))                                    \
	X(0, GetThreadIdType, (int *type))                                                       \
	X(0, SetThreadIdType, (int type))                                                        \
	X(0, GetDeviceId, (void *context, uint32_t *device))                                     \
	X(0, GetContextId, (void *context, uint32_t *id))                                        \
	X(0, GetGraphId, (void *graph, uint32_t *id))                                            \
	X(0, GetGraphExecId, (void *exec, uint32_t *id))                                         \
	X(0, GetGraphNodeId, (void *node, uint64_t *id))                                         \
	X(0, PCSamplingEnable, (struct cupti_pc_context *))                                      \
	X(0, PCSamplingDisable, (struct cupti_pc_context *))                                     \
	X(0, PCSamplingStart, (struct cupti_pc_context *))                                       \
	X(0, PCSamplingStop, (struct cupti_pc_context *))                                        \
	X(0, PCSamplingGetNumStallReasons, (struct cupti_pc_reason_count *))                     \
	X(0, PCSamplingGetStallReasons, (struct cupti_pc_reasons *))                             \
	X(0, PCSamplingSetConfigurationAttribute, (struct cupti_pc_configuration *))             \
	X(0, PCSamplingGetConfigurationAttribute, (struct cupti_pc_configuration *))             \
	X(0, PCSamplingGetData, (struct cupti_pc_get *))                                         \
	X(0, GetSassToSourceCorrelation, (struct cupti_source_line *))                           \
	X(0, GetCubinCrc, (struct cupti_cubin_checksum *))                                       \
	X(0, RegisterComputeCrcCallback, (cupti_checksum_callback))

struct cupti {
#define CUPTI_POINTER(required, name, parameters) int(*name) parameters;
	CUPTI_FUNCTIONS(CUPTI_POINTER)
#undef CUPTI_POINTER
	uint32_t version;
	uint32_t major; /* of CUDA: 11, 12, 13 ... */
};

/* The libcupti in use; set once by cupti_api__bind(), before any thread of the agent runs. */
const struct cupti *cupti_api__get(void);
/* Takes the functions out of an opened library. NULL, or the name of one that is missing. */
const char *cupti_api__bind(void *library, uint32_t soname_major);
/* CUPTI's words for a result. */
const char *cupti_api__result_text(int result);

#endif
