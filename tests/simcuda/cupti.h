/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI as far as it is simulated: own declarations, true to the ABI. A record structure here is
 * the longest revision known; older libraries end earlier (tests/simcuda/cupti/version.c has the
 * sizes).
 */
#ifndef TESTS_SIMCUDA_CUPTI_H
#define TESTS_SIMCUDA_CUPTI_H

#include "tests/simcuda/cuda.h"

typedef int CUptiResult;
enum {
	CUPTI_SUCCESS = 0,
	CUPTI_ERROR_INVALID_PARAMETER = 1,
	CUPTI_ERROR_INVALID_CONTEXT = 3,
	CUPTI_ERROR_INVALID_OPERATION = 7,
	CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT = 10,
	CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
	CUPTI_ERROR_NOT_READY = 13,
	CUPTI_ERROR_NOT_COMPATIBLE = 14,
	CUPTI_ERROR_NOT_INITIALIZED = 15,
	CUPTI_ERROR_INVALID_STREAM = 20,
	CUPTI_ERROR_INVALID_KIND = 21,
	CUPTI_ERROR_HARDWARE_BUSY = 26,
	CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED = 28,
	CUPTI_ERROR_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_ERROR_UNKNOWN = 999,
};

enum {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME,
	CUPTI_DOMAIN_RESOURCE,
	CUPTI_DOMAIN_SYNCHRONIZE,
	CUPTI_DOMAIN_NVTX,
	CUPTI_DOMAIN_STATE,
	CUPTI_DOMAIN_COUNT
};

enum {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_KERNEL = 3,
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONTEXT = 9,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_MARKER = 12,
	CUPTI_KIND_MARKER_DATA = 13,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_MEMCPY2 = 22,
	CUPTI_KIND_UNIFIED = 25,
	CUPTI_KIND_CUDA_EVENT = 36,
	CUPTI_KIND_STREAM = 37,
	CUPTI_KIND_SYNCHRONIZATION = 38,
	CUPTI_KIND_MEMORY2 = 49,
	CUPTI_KIND_MEMORY_POOL = 50,
	CUPTI_KIND_GRAPH_TRACE = 51,
	CUPTI_KIND_JIT = 52
};

#define CUPTI_ATTRIBUTE_PER_THREAD_BUFFER 9

typedef struct {
	uint32_t site;
	const char *functionName;
	const void *functionParams;
	void *functionReturnValue;
	const char *symbolName;
	CUcontext context;
	uint32_t contextUid;
	uint64_t *correlationData;
	uint32_t correlationId;
} CUpti_CallbackData;

typedef struct {
	CUcontext context;
	void *handle;
	void *descriptor;
} CUpti_ResourceData;

typedef struct {
	uint32_t moduleId;
	size_t cubinSize;
	const char *pCubin;
} CUpti_ModuleResourceData;

typedef struct {
	CUcontext context;
	CUstream stream;
} CUpti_SynchronizeData;

typedef struct {
	CUptiResult result;
	const char *message;
} CUpti_StateData;

typedef struct {
	const char *functionName;
	const void *functionParams;
	const void *functionReturnValue;
} CUpti_NvtxData;

typedef struct {
	size_t structSize;
	const char *subscriberName;
	char *oldSubscriberName;
	size_t oldSubscriberSize;
} CUpti_SubscriberParams;

typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;
typedef void (*CUpti_CallbackFunc)(void *userdata, int domain, uint32_t cbid, const void *data);
typedef void (*CUpti_BufferRequested)(uint8_t **buffer, size_t *size, size_t *records);
typedef void (*CUpti_BufferCompleted)(CUcontext context, uint32_t stream, uint8_t *buffer,
				      size_t size, size_t valid);
typedef uint64_t (*CUpti_TimestampFunc)(void);
typedef struct {
	uint32_t kind;
} CUpti_Activity;

typedef struct {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t partitioned_requested, partitioned_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, pad;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit, graph;
	void *access_policy;
	uint32_t channel, channel_type, cluster[3], cluster_policy;
	uint64_t local_total_v2;
	uint32_t max_potential_cluster, max_active_clusters;
	uint8_t device_launched, pad2[7];
	uint32_t priority, pad3;
	uint32_t execution_model, pad4;
	uint32_t source_graph, pad5;
	uint64_t source_graph_node;
} CUpti_Kernel;

typedef struct {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type;
	uint8_t device_launched, pad2[3];
	uint64_t copies;
} CUpti_Memcpy;

typedef struct {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, target_device, target_context, correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type, pad;
} CUpti_MemcpyPeer;

typedef struct {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type;
	uint8_t device_launched, pad2[3];
} CUpti_Memset;

typedef struct {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t pid, tid, correlation, result;
} CUpti_Api;

typedef struct {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t event_sync;
	uint32_t result, pad;
} CUpti_Synchronization;

typedef struct {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
	uint32_t end_device, end_context;
} CUpti_GraphTrace;

typedef struct {
	uint32_t kind, overhead_kind, object_kind, object[3];
	uint64_t start, end;
	uint32_t correlation, reserved;
	void *data;
} CUpti_Overhead;

typedef struct {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t pid, device, context, stream;
	const char *name;
	uint32_t async, pad;
	uint32_t pool_type, pad2;
	uint64_t pool, pool_threshold, pool_size, pool_used;
	const char *source;
} CUpti_Memory;

typedef struct {
	uint32_t kind, operation, type, correlation, pid, device;
	uint64_t keep, address, size, threshold, timestamp, used;
} CUpti_MemoryPool;

typedef struct {
	uint32_t kind, context, device;
	uint16_t api, null_stream;
	uint32_t parent;
	uint8_t green, pad;
	uint16_t multiprocessors;
	uint32_t cig_mode, pad2;
	uint32_t pid, pad3;
} CUpti_Context;

typedef struct {
	uint32_t kind, context, stream, priority, flag, correlation;
} CUpti_Stream;

typedef struct {
	uint32_t kind, correlation, context, stream, event, pad;
} CUpti_CudaEvent;

typedef struct {
	uint32_t kind, flags;
	uint64_t bandwidth, memory;
	uint32_t constant_memory, l2_cache, warp, clock, copy_engines, multiprocessors, max_ipc;
	uint32_t max_warps, max_blocks, max_shared, max_registers;
	uint32_t block_registers, block_shared, block_threads, block_dim[3], grid_dim[3];
	uint32_t major, minor, id, ecc;
	CUuuid uuid;
	const char *name;
	uint8_t visible, mig, reserved[6];
	uint32_t gpu_instance, compute_instance;
	CUuuid mig_uuid;
	uint32_t is_numa, numa;
} CUpti_Device;

typedef struct {
	uint32_t kind, counter;
	uint64_t value, start, end, address;
	uint32_t source, target, stream, pid, flags, pad;
	uint64_t processors[5];
} CUpti_Unified;

typedef struct {
	uint32_t kind, flags;
	uint64_t timestamp;
	uint32_t id, object_kind, object[3], pad;
	const char *name, *domain;
} CUpti_Marker;

typedef struct {
	uint32_t kind, flags, id, payload_kind;
	uint64_t payload;
	uint32_t color, category, domain, pad;
} CUpti_MarkerData;

typedef struct {
	uint32_t kind, entry, operation, device;
	uint64_t start, end;
	uint32_t correlation, pad;
	uint64_t operation_correlation, cache_size;
	const char *cache_path;
	uint32_t pid, tid;
} CUpti_Jit;

/* Sizes of records. X(kind, bytes, CUDA version since): the last row that fits the version counts.
 */
/* clang-format off */
#define CUPTI_SIZES(X) \
	X(CONCURRENT_KERNEL, 200, 1108) X(CONCURRENT_KERNEL, 208, 1200) \
	X(CONCURRENT_KERNEL, 216, 1300) X(CONCURRENT_KERNEL, 224, 1301) \
	X(CONCURRENT_KERNEL, 232, 1303) X(CONCURRENT_KERNEL, 248, 1304) X(MEMCPY, 88, 1108) \
	X(MEMCPY, 96, 1208) X(MEMCPY2, 96, 1108) X(MEMSET, 88, 1108) X(DRIVER, 40, 1108) \
	X(RUNTIME, 40, 1108) X(SYNCHRONIZATION, 40, 1108) X(SYNCHRONIZATION, 56, 1208) \
	X(GRAPH_TRACE, 48, 1108) X(GRAPH_TRACE, 56, 1203) X(OVERHEAD, 40, 1108) \
	X(OVERHEAD, 56, 1204) X(MEMORY2, 120, 1108) X(MEMORY2, 128, 1206) \
	X(MEMORY_POOL, 72, 1108) X(CONTEXT, 16, 1108) X(CONTEXT, 24, 1204) \
	X(CONTEXT, 32, 1205) X(CONTEXT, 40, 1302) X(STREAM, 24, 1108) \
	X(CUDA_EVENT, 24, 1108) X(DEVICE, 176, 1108) \
	X(DEVICE, 184, 1206) X(UNIFIED, 64, 1108) X(UNIFIED, 104, 1208) X(MARKER, 56, 1108) \
	X(MARKER_DATA, 32, 1108) X(MARKER_DATA, 40, 1300) X(JIT, 64, 1108) X(JIT, 72, 1204)
/* clang-format on */

_Static_assert(sizeof(CUpti_CallbackData) == 72, "ABI");
_Static_assert(sizeof(CUpti_Kernel) == 248 && offsetof(CUpti_Kernel, name) == 104, "ABI");
_Static_assert(offsetof(CUpti_Kernel, graph) == 156 && offsetof(CUpti_Kernel, cluster) == 176,
	       "ABI");
_Static_assert(sizeof(CUpti_Memcpy) == 96 && offsetof(CUpti_Memcpy, graph_node) == 64, "ABI");
_Static_assert(sizeof(CUpti_MemcpyPeer) == 96 && offsetof(CUpti_MemcpyPeer, graph) == 80, "ABI");
_Static_assert(sizeof(CUpti_Memset) == 88 && sizeof(CUpti_Api) == 40, "ABI");
_Static_assert(sizeof(CUpti_Synchronization) == 56 && sizeof(CUpti_GraphTrace) == 56, "ABI");
_Static_assert(sizeof(CUpti_Overhead) == 56 && sizeof(CUpti_Memory) == 128, "ABI");
_Static_assert(sizeof(CUpti_MemoryPool) == 72 && sizeof(CUpti_Context) == 40, "ABI");
_Static_assert(sizeof(CUpti_Stream) == 24 && sizeof(CUpti_Device) == 184, "ABI");
_Static_assert(sizeof(CUpti_Unified) == 104 && sizeof(CUpti_Marker) == 56, "ABI");
_Static_assert(sizeof(CUpti_MarkerData) == 40 && sizeof(CUpti_Jit) == 72, "ABI");

#pragma GCC visibility push(default)
CUptiResult cuptiGetVersion(uint32_t *version);
CUptiResult cuptiGetResultString(CUptiResult result, const char **text);
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			   void *data);
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			      void *data, CUpti_SubscriberParams *parameters);
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber);
/* Not CUPTI's: whether anyone is subscribed in this process. For programs of the tests. */
int simcuptiIsSubscribed(void);
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber, int domain,
				uint32_t cbid);
CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber, int domain);
CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber);
CUptiResult cuptiGetCallbackState(uint32_t *enabled, CUpti_SubscriberHandle subscriber, int domain,
				  uint32_t cbid);
CUptiResult cuptiGetCallbackName(int domain, uint32_t cbid, const char **name);
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BufferRequested requested,
					   CUpti_BufferCompleted completed);
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampFunc function);
CUptiResult cuptiActivityEnable(uint32_t kind);
CUptiResult cuptiActivityEnableAndDump(uint32_t kind);
CUptiResult cuptiActivityDisable(uint32_t kind);
CUptiResult cuptiActivityEnableContext(CUcontext context, uint32_t kind);
CUptiResult cuptiActivityDisableContext(CUcontext context, uint32_t kind);
CUptiResult cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
CUptiResult cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable);
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable);
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(void *config, uint32_t count);
CUptiResult cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag);
CUptiResult cuptiActivityFlushAll(uint32_t flag);
CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds);
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped);
CUptiResult cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
CUptiResult cuptiActivityGetAttribute(int attribute, size_t *size, void *value);
CUptiResult cuptiGetTimestamp(uint64_t *timestamp);
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *device);
CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id);
CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id);
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
			       uint32_t *id);
CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id);
CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id);
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id);
CUptiResult cuptiDeviceSupported(CUdevice device, int *supported);
CUptiResult cuptiSetThreadIdType(int type);
CUptiResult cuptiGetThreadIdType(int *type);
CUptiResult cuptiGetLastError(void);
CUptiResult cuptiFinalize(void);
#pragma GCC visibility pop

#endif
