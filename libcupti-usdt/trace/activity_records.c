// SPDX-License-Identifier: BSD-2-Clause
/*
 * One function a kind of CUPTI's records. A record is sent when somebody listens to its group.
 */
#include "libcupti-usdt/trace/activity_records.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_records.h"
#include "libcupti-usdt/cupti/cuda_driver.h"
#include "libcupti-usdt/trace/kernel_names.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

#define SLACK_NS 1000000 /* more than GPU times are ever off */

static _Atomic(int) ending;	   /* those who expect it */
static _Atomic(uint64_t) earliest; /* ns */

/* Groups that GPU records belong to. */
enum buffer_batch {
	BUFFER_KERNEL,
	BUFFER_MEMCPY,
	BUFFER_MEMSET,
	BUFFER_MEMORY,
	BUFFER_SYNC,
	BUFFER_GRAPH,
	BUFFER_OVERHEAD,
	BUFFER_UVM,
	BUFFER_OBJECT,
	BUFFER_EVENT,
	BUFFER_BATCHES
};
_Static_assert(BUFFER_BATCHES == BATCHES_SET, "one batch a group");

static const uint8_t group_of[BUFFER_BATCHES] = {
	[BUFFER_KERNEL] = CUDA_GROUP_KERNEL,	 [BUFFER_MEMCPY] = CUDA_GROUP_MEMCPY,
	[BUFFER_MEMSET] = CUDA_GROUP_MEMSET,	 [BUFFER_MEMORY] = CUDA_GROUP_MEMORY,
	[BUFFER_SYNC] = CUDA_GROUP_SYNC,	 [BUFFER_GRAPH] = CUDA_GROUP_GRAPH,
	[BUFFER_OVERHEAD] = CUDA_GROUP_OVERHEAD, [BUFFER_UVM] = CUDA_GROUP_UVM,
	[BUFFER_OBJECT] = CUDA_GROUP_OBJECT,	 [BUFFER_EVENT] = CUDA_GROUP_API_EVENT,
};

void activity_records__set_start(uint64_t time)
{
	atomic_store(&earliest, time - SLACK_NS);
}

void activity_records__expect_unfinished(bool expected)
{
	atomic_fetch_add(&ending, expected ? 1 : -1);
}

static void add(struct batch *batches, enum buffer_batch which, const void *record)
{
	const struct cuda_record *added = record;
	unsigned int group = group_of[which];

	if (!batch__heard(group))
		return;
	if (batches)
		batch__add(&batches[which], group, added);
	else
		batch__send_in_place(group, added, added->size, 1);
}

static struct cuda_record head(uint16_t kind, uint16_t size, uint32_t correlation)
{
	return (struct cuda_record){.kind = kind, .size = size, .correlation = correlation};
}

static bool is_ours(uint64_t time)
{
	return time >= atomic_load_explicit(&earliest, memory_order_relaxed);
}

/*
 * Converts a span. A record without true times is counted and left out; one that CUPTI still had
 * from the session before (nobody waits for it to flush at a detach) is left out.
 */
static bool convert(uint64_t start, uint64_t end, __u64 *our_start, __u64 *our_end)
{
	if (!end && atomic_load_explicit(&ending, memory_order_relaxed)) {
		status__lost(CUDA_LOST_UNFINISHED, 1);
		return false;
	}
	if (!start || !end || end < start) {
		status__lost(CUDA_LOST_INVALID, 1);
		return false;
	}
	*our_start = clock__from_cupti(start);
	*our_end = *our_start + (end - start);
	return is_ours(*our_end);
}

/* The same of what has one time: without it the record is counted and left out. */
static bool is_moment(uint64_t time, uint64_t our_time)
{
	if (!time)
		status__lost(CUDA_LOST_INVALID, 1);
	return time && is_ours(our_time);
}

static void emit_kernel(struct batch *batches, const struct cupti_kernel *from)
{
	struct cuda_kernel to = {
		.head = head(CUDA_RECORD_KERNEL, sizeof(to), from->correlation),
		.graph_node = from->graph_node,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.grid = {from->grid[0], from->grid[1], from->grid[2]},
		.block = {from->block[0], from->block[1], from->block[2]},
		.static_shared = from->static_shared,
		.dynamic_shared = from->dynamic_shared,
		.local_per_thread = from->local_per_thread,
		.graph = from->graph,
		.registers = from->registers,
		.launch_type = from->launch_type,
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	to.name = kernel_names__of(from->correlation);
	if (!to.name)
		to.name = interned_names__intern(from->name);
	add(batches, BUFFER_KERNEL, &to);
	if (site_wanted(kernel_exec))
		probe_sites__kernel_exec(&to, interned_names__text(to.name));
}

static void emit_memcpy(struct batch *batches, const struct cupti_memcpy *from)
{
	struct cuda_memcpy to = {
		.head = head(CUDA_RECORD_MEMCPY, sizeof(to), from->correlation),
		.bytes = from->bytes,
		.graph_node = from->graph_node,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.graph = from->graph,
		.src_device = from->device,
		.src_context = from->context,
		.dst_device = from->device,
		.dst_context = from->context,
		.copy_kind = from->copy_kind,
		.src_kind = from->src_kind,
		.dst_kind = from->dst_kind,
		.flags = from->flags,
		.copies = 1,
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	if (cupti_api__get()->version >= CUPTI_VERSION_12_8 && from->copies)
		to.copies = from->copies;
	add(batches, BUFFER_MEMCPY, &to);
	if (site_wanted(memcpy))
		probe_sites__memcpy(&to);
}

static void emit_memcpy_peer(struct batch *batches, const struct cupti_memcpy_peer *from)
{
	struct cuda_memcpy to = {
		.head = head(CUDA_RECORD_MEMCPY, sizeof(to), from->correlation),
		.bytes = from->bytes,
		.graph_node = from->graph_node,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.graph = from->graph,
		.src_device = from->src_device,
		.src_context = from->src_context,
		.dst_device = from->dst_device,
		.dst_context = from->dst_context,
		.copy_kind = from->copy_kind,
		.src_kind = from->src_kind,
		.dst_kind = from->dst_kind,
		.flags = from->flags,
		.copies = 1,
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	add(batches, BUFFER_MEMCPY, &to);
	if (site_wanted(memcpy))
		probe_sites__memcpy(&to);
}

static void emit_memset(struct batch *batches, const struct cupti_memset *from)
{
	struct cuda_memset to = {
		.head = head(CUDA_RECORD_MEMSET, sizeof(to), from->correlation),
		.bytes = from->bytes,
		.graph_node = from->graph_node,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.graph = from->graph,
		.value = from->value,
		.memory_kind = from->memory_kind,
		.flags = from->flags,
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	add(batches, BUFFER_MEMSET, &to);
	if (site_wanted(memset))
		probe_sites__memset(&to);
}

static void emit_memory(struct batch *batches, const struct cupti_memory *from)
{
	struct cuda_memory to = {
		.head = head(CUDA_RECORD_MEMORY, sizeof(to), from->correlation),
		.time = clock__from_cupti(from->time),
		.address = from->address,
		.bytes = from->bytes,
		.pc = from->pc,
		.pool = from->pool_address,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.name = interned_names__intern(from->name),
		.operation = from->operation,
		.kind = from->memory_kind,
		.asynchronous = from->asynchronous,
		.pool_type = from->pool_type,
	};

	/* An imported pool has the owner's process id where a local one has its size. */
	if (from->pool_type == 1) {
		to.pool_size = from->pool_size;
		to.pool_used = from->pool_used;
	}
	if (!is_moment(from->time, to.time))
		return;
	add(batches, BUFFER_MEMORY, &to);
	if (site_wanted(memory))
		probe_sites__memory(&to);
}

static void emit_memory_pool(struct batch *batches, const struct cupti_memory_pool *from)
{
	struct cuda_memory_pool to = {
		.head = head(CUDA_RECORD_MEMORY_POOL, sizeof(to), from->correlation),
		.time = clock__from_cupti(from->time),
		.address = from->address,
		.size = from->size,
		.used = from->used,
		.threshold = from->threshold,
		.keep = from->keep,
		.device = from->device,
		.operation = from->operation,
		.type = from->type,
	};

	if (!is_moment(from->time, to.time))
		return;
	add(batches, BUFFER_MEMORY, &to);
	if (site_wanted(memory_pool))
		probe_sites__memory_pool(&to);
}

static void emit_sync(struct batch *batches, const struct cupti_sync *from)
{
	struct cuda_sync to = {
		.head = head(CUDA_RECORD_SYNC, sizeof(to), from->correlation),
		.context = from->context,
		.stream = from->stream,
		.event = from->event,
		.type = from->type,
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	if (cupti_api__get()->version >= CUPTI_VERSION_12_8) {
		to.event_sync = from->event_sync;
		to.result = from->result;
	}
	add(batches, BUFFER_SYNC, &to);
	if (site_wanted(sync))
		probe_sites__sync(&to);
}

static void emit_event_record(struct batch *batches, const struct cupti_cuda_event *from)
{
	struct cuda_event_record to = {
		.head = head(CUDA_RECORD_EVENT_RECORD, sizeof(to), from->correlation),
		.context = from->context,
		.stream = from->stream,
		.event = from->event,
	};

	add(batches, BUFFER_EVENT, &to);
	if (site_wanted(event_record))
		probe_sites__event_record(&to);
}

static void emit_graph(struct batch *batches, const struct cupti_graph_trace *from)
{
	struct cuda_graph to = {
		.head = head(CUDA_RECORD_GRAPH, sizeof(to), from->correlation),
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.graph = from->graph,
		.end_device = from->device,
		.end_context = from->context,
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	if (cupti_api__get()->version >= CUPTI_VERSION_12_4) {
		to.end_device = from->end_device;
		to.end_context = from->end_context;
	}
	add(batches, BUFFER_GRAPH, &to);
	if (site_wanted(graph_exec))
		probe_sites__graph_exec(&to);
}

static void emit_overhead(struct batch *batches, const struct cupti_overhead *from)
{
	struct cuda_overhead to = {
		.head = head(CUDA_RECORD_OVERHEAD, sizeof(to), 0),
		.kind = from->overhead_kind,
		.object_kind = from->object_kind,
		.object = {from->object[0], from->object[1], from->object[2]},
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	if (cupti_api__get()->version >= CUPTI_VERSION_12_4)
		to.head.correlation = from->correlation;
	add(batches, BUFFER_OVERHEAD, &to);
	if (site_wanted(overhead))
		probe_sites__overhead(&to);
}

static void emit_jit(struct batch *batches, const struct cupti_jit *from)
{
	struct cuda_jit to = {
		.head = head(CUDA_RECORD_JIT, sizeof(to), from->correlation),
		.operation_id = from->operation_id,
		.cache_bytes = from->cache_bytes,
		.device = from->device,
		.cache_path = interned_names__intern_text(from->cache_path),
		.entry = from->entry,
		.operation = from->operation,
	};

	if (!convert(from->start, from->end, &to.start, &to.end))
		return;
	if (cupti_api__get()->version >= CUPTI_VERSION_12_4)
		to.tid = from->thread;
	add(batches, BUFFER_OVERHEAD, &to);
	if (site_wanted(jit))
		probe_sites__jit(&to, interned_names__text(to.cache_path));
}

/* A record of a fault on the host is one fault; its value is the instruction that met it. */
static uint64_t uvm_value(const struct cupti_uvm *from)
{
	return from->counter == CUPTI_UVM_CPU_FAULT ? 1 : from->value;
}

static void emit_uvm(struct batch *batches, const struct cupti_uvm *from)
{
	struct cuda_uvm to = {
		.head = head(CUDA_RECORD_UVM, sizeof(to), 0),
		.start = from->start ? clock__from_cupti(from->start) : 0,
		.end = from->end ? clock__from_cupti(from->end) : 0,
		.value = uvm_value(from),
		.address = from->address,
		.source = from->source,
		.destination = from->destination,
		.stream = from->stream,
		.flags = from->flags,
		.counter = from->counter,
	};

	if (!from->start) {
		status__lost(CUDA_LOST_INVALID, 1);
		return;
	}
	add(batches, BUFFER_UVM, &to);
	if (site_wanted(uvm))
		probe_sites__uvm(&to);
}

static void emit_device(struct batch *batches, const struct cupti_device *from)
{
	struct cuda_device to = {
		.head = head(CUDA_RECORD_DEVICE, sizeof(to), 0),
		.memory = from->memory,
		.device = from->id,
		.name = interned_names__intern(from->name),
		.major = from->major,
		.minor = from->minor,
		.multiprocessors = from->multiprocessors,
		.core_clock = from->core_clock,
		.mig = from->mig,
		.gpu_instance = from->mig ? from->gpu_instance : 0,
		.compute_instance = from->mig ? from->compute_instance : 0,
	};

	memcpy(to.uuid, from->uuid, sizeof(to.uuid));
	if (from->mig)
		memcpy(to.mig_uuid, from->mig_uuid, sizeof(to.mig_uuid));
	cuda_driver__pci(from->id, to.pci, sizeof(to.pci));
	add(batches, BUFFER_OBJECT, &to);
	if (site_wanted(device))
		probe_sites__device(&to, interned_names__text(to.name));
	/* The client's to free, says 13.0's header. Older ones are not known to: some bytes a
	 * device are a better loss than the program's heap. */
	if (cupti_api__get()->version >= CUPTI_VERSION_13_0)
		free((void *)from->name);
}

static void emit_context(struct batch *batches, const struct cupti_context *from)
{
	struct cuda_context to = {
		.head = head(CUDA_RECORD_CONTEXT, sizeof(to), 0),
		.context = from->context,
		.device = from->device,
		.null_stream = from->null_stream,
	};

	if (cupti_api__get()->version >= CUPTI_VERSION_12_4 && from->green) {
		to.green = 1;
		to.parent = from->parent;
		to.multiprocessors = from->multiprocessors;
	}
	add(batches, BUFFER_OBJECT, &to);
	if (site_wanted(context))
		probe_sites__context(&to);
}

static void emit_stream(struct batch *batches, const struct cupti_stream *from)
{
	struct cuda_stream to = {
		.head = head(CUDA_RECORD_STREAM, sizeof(to), from->correlation),
		.context = from->context,
		.stream = from->stream,
		.priority = from->priority,
		.flag = from->flag,
	};

	add(batches, BUFFER_OBJECT, &to);
	if (site_wanted(stream))
		probe_sites__stream(&to);
}

void activity_records__record(struct batch *batches, const void *record)
{
	switch (*(const uint32_t *)record) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		emit_kernel(batches, record);
		break;
	case CUPTI_KIND_MEMCPY:
		emit_memcpy(batches, record);
		break;
	case CUPTI_KIND_MEMCPY2:
		emit_memcpy_peer(batches, record);
		break;
	case CUPTI_KIND_MEMSET:
		emit_memset(batches, record);
		break;
	case CUPTI_KIND_MEMORY2:
		emit_memory(batches, record);
		break;
	case CUPTI_KIND_MEMORY_POOL:
		emit_memory_pool(batches, record);
		break;
	case CUPTI_KIND_SYNC:
		emit_sync(batches, record);
		break;
	case CUPTI_KIND_CUDA_EVENT:
		emit_event_record(batches, record);
		break;
	case CUPTI_KIND_GRAPH_TRACE:
		emit_graph(batches, record);
		break;
	case CUPTI_KIND_OVERHEAD:
		emit_overhead(batches, record);
		break;
	case CUPTI_KIND_JIT:
		emit_jit(batches, record);
		break;
	case CUPTI_KIND_UVM:
		emit_uvm(batches, record);
		break;
	case CUPTI_KIND_DEVICE:
		emit_device(batches, record);
		break;
	case CUPTI_KIND_CONTEXT:
		emit_context(batches, record);
		break;
	case CUPTI_KIND_STREAM:
		emit_stream(batches, record);
		break;
	}
}

void activity_records__send(struct batch *batches)
{
	for (int i = 0; batches && i < BUFFER_BATCHES; i++)
		batch__send(&batches[i], group_of[i]);
}
