// SPDX-License-Identifier: BSD-2-Clause
// Writes records as CUPTI lays them out: the longest revision is filled, and the library's version
// says how much of it there is.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/simcuda/cupti/tracer.h"

#define NO_CHANNEL UINT32_MAX

union layout {
	CUpti_Kernel kernel;
	CUpti_Memcpy memcpy;
	CUpti_MemcpyPeer peer;
	CUpti_Memset memset;
	CUpti_Api api;
	CUpti_Synchronization sync;
	CUpti_GraphTrace graph;
	CUpti_Overhead overhead;
	CUpti_Memory memory;
	CUpti_MemoryPool pool;
	CUpti_Context context;
	CUpti_Stream stream;
	CUpti_CudaEvent event;
	CUpti_Device device;
	CUpti_Unified unified;
	CUpti_Marker marker;
	CUpti_MarkerData marker_data;
	CUpti_Jit jit;
};

struct times {
	uint64_t start, end;
};

static void write_kernel(CUpti_Kernel *to, const struct simcuda_record *from, struct times times)
{
	*to = (CUpti_Kernel){
		.kind = from->kind,
		.registers = from->kernel.registers,
		.start = times.start,
		.end = times.end,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.static_shared = from->kernel.static_shared,
		.dynamic_shared = from->kernel.dynamic_shared,
		.local_per_thread = from->kernel.local,
		.correlation = from->correlation,
		.grid_id = from->correlation,
		.name = settings__get()->version < 1300 ? from->kernel.name
							: from->kernel.remembered,
		.launch_type = from->kernel.launch_type,
		.graph_node = from->graph_node,
		.graph = from->graph,
		.channel = NO_CHANNEL,
	};
	for (int i = 0; i < 3; i++) {
		to->grid[i] = from->kernel.grid[i];
		to->block[i] = from->kernel.block[i];
		to->cluster[i] = from->kernel.cluster[i];
	}
}

static void write_memcpy(CUpti_Memcpy *to, const struct simcuda_record *from, struct times times)
{
	*to = (CUpti_Memcpy){
		.kind = from->kind,
		.copy_kind = from->copy.kind,
		.source_kind = from->copy.source,
		.target_kind = from->copy.target,
		.flags = from->copy.flags,
		.bytes = from->copy.bytes,
		.start = times.start,
		.end = times.end,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.correlation = from->correlation,
		.graph_node = from->graph_node,
		.graph = from->graph,
		.channel = NO_CHANNEL,
		.copies = 1,
	};
}

static void write_peer(CUpti_MemcpyPeer *to, const struct simcuda_record *from, struct times times)
{
	*to = (CUpti_MemcpyPeer){
		.kind = from->kind,
		.copy_kind = from->copy.kind,
		.source_kind = from->copy.source,
		.target_kind = from->copy.target,
		.flags = from->copy.flags,
		.bytes = from->copy.bytes,
		.start = times.start,
		.end = times.end,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.source_device = from->copy.source_device,
		.source_context = from->copy.source_context,
		.target_device = from->copy.target_device,
		.target_context = from->copy.target_context,
		.correlation = from->correlation,
		.graph_node = from->graph_node,
		.graph = from->graph,
		.channel = NO_CHANNEL,
	};
}

static void write_memset(CUpti_Memset *to, const struct simcuda_record *from, struct times times)
{
	*to = (CUpti_Memset){
		.kind = from->kind,
		.value = from->set.value,
		.bytes = from->set.bytes,
		.start = times.start,
		.end = times.end,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.correlation = from->correlation,
		.flags = from->set.flags,
		.memory_kind = from->set.memory,
		.graph_node = from->graph_node,
		.graph = from->graph,
		.channel = NO_CHANNEL,
	};
}

static void write_memory(CUpti_Memory *to, const struct simcuda_record *from, struct times times)
{
	*to = (CUpti_Memory){
		.kind = from->kind,
		.operation = from->memory.operation,
		.memory_kind = from->memory.memory,
		.correlation = from->correlation,
		.address = from->memory.address,
		.bytes = from->memory.bytes,
		.timestamp = times.start,
		.pid = getpid(),
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.async = from->memory.async,
		.pool_type = from->memory.pool_type,
		.pool = from->memory.pool,
		.pool_threshold = from->memory.threshold,
		.pool_size = from->memory.pool_size,
		.pool_used = from->memory.pool_used,
	};
}

static void write_device(CUpti_Device *to, const struct simcuda_record *from)
{
	*to = (CUpti_Device){
		.kind = from->kind,
		.flags = 1,
		.bandwidth = 3350000000,
		.memory = 80ULL << 30,
		.warp = 32,
		.clock = 1980000,
		.copy_engines = 3,
		.multiprocessors = 132,
		.block_threads = 1024,
		.major = 9,
		.id = from->device,
		.name = strdup("Simulated GPU"), /* the client frees it */
		.visible = 1,
	};
	memset(&to->uuid, 0x51, sizeof(to->uuid));
	to->uuid.bytes[15] = from->device;
}

/* Records of the host's own doing. */
static void write_host(union layout *to, const struct simcuda_record *from, struct times times)
{
	switch (from->kind) {
	case CUPTI_KIND_DRIVER:
	case CUPTI_KIND_RUNTIME:
		to->api = (CUpti_Api){from->kind,	 from->api.cbid,  times.start,
				      times.end,	 from->api.pid,	  from->api.tid,
				      from->correlation, from->api.result};
		break;
	case CUPTI_KIND_SYNCHRONIZATION:
		to->sync = (CUpti_Synchronization){.kind = from->kind,
						   .type = from->sync.type,
						   .start = times.start,
						   .end = times.end,
						   .correlation = from->correlation,
						   .context = from->context,
						   .stream = from->stream,
						   .event = from->sync.event,
						   .result = from->sync.result};
		break;
	case CUPTI_KIND_OVERHEAD:
		to->overhead = (CUpti_Overhead){.kind = from->kind,
						.overhead_kind = from->overhead.kind,
						.object_kind = 2,
						.object = {getpid(), from->overhead.tid},
						.start = times.start,
						.end = times.end,
						.correlation = from->correlation};
		break;
	case CUPTI_KIND_JIT:
		to->jit = (CUpti_Jit){.kind = from->kind,
				      .entry = from->jit.entry,
				      .operation = from->jit.operation,
				      .device = from->device,
				      .start = times.start,
				      .end = times.end,
				      .correlation = from->correlation,
				      .operation_correlation = from->correlation,
				      .cache_size = from->jit.cache_size,
				      .pid = getpid(),
				      .tid = from->jit.tid};
		break;
	case CUPTI_KIND_MARKER:
		to->marker = (CUpti_Marker){.kind = from->kind,
					    .flags = from->marker.flags,
					    .timestamp = times.start,
					    .id = from->marker.id,
					    .object_kind = 2,
					    .object = {getpid(), from->marker.tid},
					    .name = from->marker.name,
					    .domain = from->marker.domain};
		break;
	case CUPTI_KIND_MARKER_DATA:
		to->marker_data = (CUpti_MarkerData){.kind = from->kind,
						     .flags = 2,
						     .id = from->marker.id,
						     .color = from->marker.color,
						     .category = from->marker.category};
		break;
	}
}

/* Contexts, streams, pools, unified memory. */
static void write_object(union layout *to, const struct simcuda_record *from, struct times times)
{
	switch (from->kind) {
	case CUPTI_KIND_CONTEXT:
		to->context = (CUpti_Context){.kind = from->kind,
					      .context = from->context,
					      .device = from->device,
					      .api = 1,
					      .null_stream = from->context_info.null_stream,
					      .pid = getpid()};
		break;
	case CUPTI_KIND_STREAM:
		to->stream = (CUpti_Stream){from->kind,
					    from->context,
					    from->stream,
					    from->stream_info.priority,
					    from->stream_info.flag,
					    from->correlation};
		break;
	case CUPTI_KIND_CUDA_EVENT:
		to->event = (CUpti_CudaEvent){.kind = from->kind,
					      .correlation = from->correlation,
					      .context = from->context,
					      .stream = from->stream,
					      .event = from->sync.event};
		break;
	case CUPTI_KIND_MEMORY_POOL:
		to->pool = (CUpti_MemoryPool){.kind = from->kind,
					      .operation = from->pool.operation,
					      .type = from->pool.type,
					      .correlation = from->correlation,
					      .pid = getpid(),
					      .device = from->device,
					      .keep = from->pool.keep,
					      .address = from->pool.address,
					      .size = from->pool.size,
					      .threshold = from->pool.threshold,
					      .timestamp = times.start,
					      .used = from->pool.used};
		break;
	case CUPTI_KIND_UNIFIED:
		to->unified = (CUpti_Unified){.kind = from->kind,
					      .counter = from->unified.kind,
					      .value = from->unified.value,
					      .start = times.start,
					      .end = times.end,
					      .address = from->unified.address,
					      .source = from->unified.source,
					      .target = from->unified.target,
					      .pid = getpid(),
					      .flags = from->unified.flags};
		break;
	case CUPTI_KIND_GRAPH_TRACE:
		to->graph = (CUpti_GraphTrace){.kind = from->kind,
					       .correlation = from->correlation,
					       .start = times.start,
					       .end = times.end,
					       .device = from->device,
					       .graph = from->graph,
					       .context = from->context,
					       .stream = from->stream,
					       .end_device = from->device,
					       .end_context = from->context};
		break;
	}
}

size_t record__write(const struct simcuda_record *record, int64_t offset, bool unfinished,
		     uint8_t *target)
{
	struct times times = {record->start + offset, unfinished ? 0 : record->end + offset};
	size_t size = version__size(record->kind);
	union layout layout;

	memset(&layout, 0, sizeof(layout));
	switch (record->kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		write_kernel(&layout.kernel, record, times);
		break;
	case CUPTI_KIND_MEMCPY:
		write_memcpy(&layout.memcpy, record, times);
		break;
	case CUPTI_KIND_MEMCPY2:
		write_peer(&layout.peer, record, times);
		break;
	case CUPTI_KIND_MEMSET:
		write_memset(&layout.memset, record, times);
		break;
	case CUPTI_KIND_MEMORY2:
		write_memory(&layout.memory, record, times);
		break;
	case CUPTI_KIND_DEVICE:
		write_device(&layout.device, record);
		break;
	default:
		write_host(&layout, record, times);
		write_object(&layout, record, times);
	}
	memcpy(target, &layout, size);
	return size;
}
