/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Activity records, as far as they are read. Every revision of a record appends to the one before,
 * so a prefix fits all of 11.8 to 13.x; fields marked "since" may only be read when the loaded
 * library is that new, as the last record of a buffer ends where its revision ends.
 * Names follow NVIDIA's, in this project's spelling; `make check-layout` compares the offsets.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_RECORDS_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_RECORDS_H

#include <stdint.h>
#include "libcupti-usdt/probes.h"

/* clang-format off */
/*
 * The activity kinds that we use. X(our name, CUPTI's name, CUPTI's number, the groups that need it,
 * optional: older libraries or GPUs may lack it and the group works without, dump: CUPTI also
 * reports what exists already)
 */
#define CUPTI_ACTIVITY_KINDS(X) \
	X(CONCURRENT_KERNEL, CONCURRENT_KERNEL, 10, CUPTI_FOR(KERNEL) | CUPTI_FOR(SAMPLED_KERNEL), \
	  false, false) \
	X(MEMCPY, MEMCPY, 1, CUPTI_FOR(MEMCPY) | CUPTI_FOR(SAMPLED_MEMCPY), false, false) \
	X(MEMCPY2, MEMCPY2, 22, CUPTI_FOR(MEMCPY) | CUPTI_FOR(SAMPLED_MEMCPY), true, false) \
	X(MEMSET, MEMSET, 2, CUPTI_FOR(MEMSET) | CUPTI_FOR(SAMPLED_MEMSET), false, false) \
	X(MEMORY2, MEMORY2, 49, CUPTI_FOR(MEMORY), false, false) \
	X(MEMORY_POOL, MEMORY_POOL, 50, CUPTI_FOR(MEMORY), true, false) \
	X(SYNC, SYNCHRONIZATION, 38, CUPTI_FOR(SYNC), false, false) \
	X(CUDA_EVENT, CUDA_EVENT, 36, CUPTI_FOR(API_EVENT), true, false) \
	X(GRAPH_TRACE, GRAPH_TRACE, 51, CUPTI_FOR(GRAPH), false, false) \
	X(OVERHEAD, OVERHEAD, 17, CUPTI_FOR(OVERHEAD), false, false) \
	X(JIT, JIT, 52, CUPTI_FOR(OVERHEAD), true, false) \
	X(UVM, UNIFIED_MEMORY_COUNTER, 25, CUPTI_FOR(UVM), false, false) \
	X(DEVICE, DEVICE, 8, CUPTI_FOR(OBJECT), false, true) \
	X(CONTEXT, CONTEXT, 9, CUPTI_FOR(OBJECT), false, true) \
	X(STREAM, STREAM, 37, CUPTI_FOR(OBJECT), true, true)

/*
 * Fields that tests/agent/layout compares with a toolkit's headers, of structures that all of them
 * have (it lists others itself). X(our structure, field, CUPTI's structure, its field)
 */
#define CUPTI_RECORD_FIELDS(X) \
	X(cupti_cuda_event, correlation, CUpti_ActivityCudaEvent, correlationId) \
	X(cupti_cuda_event, context, CUpti_ActivityCudaEvent, contextId) \
	X(cupti_cuda_event, stream, CUpti_ActivityCudaEvent, streamId) \
	X(cupti_cuda_event, event, CUpti_ActivityCudaEvent, eventId) \
	X(cupti_stream, context, CUpti_ActivityStream, contextId) \
	X(cupti_stream, stream, CUpti_ActivityStream, streamId) \
	X(cupti_stream, priority, CUpti_ActivityStream, priority) \
	X(cupti_stream, flag, CUpti_ActivityStream, flag) \
	X(cupti_stream, correlation, CUpti_ActivityStream, correlationId)
/* clang-format on */

#define CUPTI_FOR(group) (1U << CUDA_GROUP_##group)

enum cupti_activity_kind {
#define CUPTI_KIND_ENUMERATOR(ours, theirs, number, ...) CUPTI_KIND_##ours = number,
	CUPTI_ACTIVITY_KINDS(CUPTI_KIND_ENUMERATOR)
#undef CUPTI_KIND_ENUMERATOR
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t cache_requested, cache_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3];
	int32_t block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel, channel_type, device_launched;
	uint64_t copies; /* since 12.8 */
};

struct cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct cupti_memory {
	uint32_t kind;
	uint32_t operation, memory_kind, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t asynchronous, pad;
	uint32_t pool_type, pad2;
	uint64_t pool_address, pool_threshold, pool_size, pool_used;
};

struct cupti_memory_pool {
	uint32_t kind;
	uint32_t operation, type, correlation;
	uint32_t process, device;
	uint64_t keep, address, size, threshold, time, used;
};

struct cupti_sync {
	uint32_t kind;
	uint32_t type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t event_sync; /* since 12.8 */
	uint32_t result;     /* since 12.8 */
};

struct cupti_cuda_event {
	uint32_t kind;
	uint32_t correlation, context, stream, event;
};

struct cupti_graph_trace {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
	uint32_t end_device,
		end_context; /* since 12.4 (12.3 has them under an older version number) */
};

struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead_kind, object_kind;
	uint32_t object[3];
	uint64_t start, end;
	uint32_t correlation; /* since 12.4 */
};

struct cupti_jit {
	uint32_t kind;
	uint32_t entry, operation, device;
	uint64_t start, end;
	uint32_t correlation, pad;
	uint64_t operation_id, cache_bytes;
	const char *cache_path;
	uint32_t process, thread; /* since 12.4 */
};

struct cupti_uvm {
	uint32_t kind;
	uint32_t counter;
	uint64_t value, start, end, address;
	uint32_t source, destination, stream, process, flags;
};

struct cupti_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t memory_bandwidth, memory;
	uint32_t constant_memory, l2_cache, warp, core_clock, copy_engines, multiprocessors;
	uint32_t limits[14];
	uint32_t major, minor;
	uint32_t id, ecc;
	uint8_t uuid[16];
	const char *name;
	uint8_t visible, mig, reserved[6];
	uint32_t gpu_instance, compute_instance;
	uint8_t mig_uuid[16];
};

struct cupti_context {
	uint32_t kind;
	uint32_t context, device;
	uint16_t api_kind, null_stream;
	uint32_t parent;	  /* since 12.4 */
	uint8_t green, pad;	  /* since 12.4 */
	uint16_t multiprocessors; /* since 12.4 */
};

struct cupti_stream {
	uint32_t kind;
	uint32_t context, stream, priority, flag, correlation;
};

#endif
