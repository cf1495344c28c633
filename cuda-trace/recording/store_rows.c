// SPDX-License-Identifier: BSD-2-Clause
/*
 * One function for each kind of record. CUPTI's numbers become those of Nsight's export here,
 * where the two differ.
 */
#include "cuda-trace/recording/store_rows.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/event.h"
#include "cuda-trace/base/api_names.h"
#include "cuda-trace/recording/store_objects.h"

#define EVENT_CLASS_RUNTIME  0
#define EVENT_CLASS_DRIVER   1
#define EVENT_CLASS_JIT	     102
#define EVENT_CLASS_OVERHEAD 103

#define UNKNOWN_MEMORY	     7

/* CUpti_ActivityMemoryKind → ENUM_CUDA_MEM_KIND. */
static int64_t memory_kind(uint32_t kind)
{
	return kind ? (int64_t)kind - 1 : UNKNOWN_MEMORY;
}

static int64_t or_null(uint64_t value)
{
	return value ? (int64_t)value : DB_NULL;
}

static int64_t event_class(uint8_t domain)
{
	return domain == CUDA_DOMAIN_RUNTIME ? EVENT_CLASS_RUNTIME : EVENT_CLASS_DRIVER;
}

static int64_t at(const struct rows *rows, uint64_t time)
{
	return (int64_t)(time - rows->epoch);
}

static int64_t global_tid(const struct rows_process *process, uint32_t tid)
{
	return process->global_pid | (tid & 0xffffff);
}

static int add(struct rows *rows, enum db_table table, const int64_t *values)
{
	rows->count++;
	return db__insert(rows->db, table, values);
}

static int64_t call_name(struct rows *rows, uint8_t domain, uint16_t cbid)
{
	int64_t *known = &rows->calls[domain == CUDA_DOMAIN_RUNTIME][cbid % ROWS_CALLS];
	char name[64];
	int64_t id;

	if (cbid < ROWS_CALLS && *known)
		return *known;
	store__call_name(name, sizeof(name), domain, cbid);
	id = db__string(rows->db, name, strlen(name));
	if (cbid < ROWS_CALLS)
		*known = id;
	return id;
}

static int put_call(struct rows *rows, const struct rows_process *process,
		    const struct cuda_api *call, int64_t name, int64_t kernel, int64_t shape)
{
	uint32_t number = process - rows->processes, id = call->head.correlation;
	/* Only launches have stacks. */
	int64_t chain = kernel == DB_NULL ? DB_NULL : store_chains__of(rows->chains, number, id);
	int64_t values[] = {
		at(rows, call->start),
		at(rows, call->end),
		event_class(call->domain),
		global_tid(process, call->tid),
		or_null(call->head.correlation),
		name,
		call->result,
		chain,
		kernel,
		shape,
	};

	if (chain < 0 && chain != DB_NULL)
		return chain;
	/* A call that failed may come twice: as a launch or of its family, and as an error. */
	if (call->result && store_objects__seen_failure(rows, process, call))
		return 0;
	return add(rows, DB_RUNTIME, values);
}

static int put_launch(struct rows *rows, struct rows_process *process,
		      const struct cuda_launch *launch)
{
	struct cuda_api call = {
		.head = launch->head,
		.start = launch->start,
		.end = launch->end,
		.tid = launch->tid,
		.result = launch->result,
		.cbid = launch->cbid,
		.domain = launch->domain,
	};
	const struct rows_name *kernel = NULL;
	/* Else the kernel's own record has it. */
	bool bare = process->source == EVENT_SOURCE_DRIVER;
	int64_t shape = bare ? store_objects__shape(rows, launch) : DB_NULL;

	if (shape < 0 && shape != DB_NULL)
		return shape;
	/* Graph launches, and they alone, have 0, the empty name. */
	if (launch->head.kind != CUDA_RECORD_GRAPH_LAUNCH) {
		kernel = store_objects__kernel_name(rows, process, launch->name);
		if (!kernel)
			return -ENOMEM;
	}
	return put_call(rows, process, &call, call_name(rows, launch->domain, launch->cbid),
			kernel ? kernel->pretty : 0, shape);
}

static int put_error(struct rows *rows, struct rows_process *process, const struct cuda_api *call,
		     int64_t name)
{
	int64_t values[8 + ROWS_ASKED] = {
		at(rows, call->start),
		at(rows, call->end),
		event_class(call->domain),
		global_tid(process, call->tid),
		call->head.correlation,
		name,
		call->result,
		call->group == CUDA_GROUP_API_LAUNCH,
	};
	int err = store_objects__asked(rows, process, call, values + 8);

	return err ? err : db__insert(rows->db, DB_ERRORS, values);
}

static int put_api(struct rows *rows, struct rows_process *process, const struct cuda_api *call,
		   uint8_t group)
{
	int64_t name = call->name ? store_objects__plain_name(rows, process, call->name)
				  : call_name(rows, call->domain, call->cbid);
	int err = name < 0 ? (int)name : 0;

	if (!err && group == CUDA_GROUP_API_ERROR)
		err = put_error(rows, process, call, name);
	return err ? err : put_call(rows, process, call, name, DB_NULL, DB_NULL);
}

static int put_kernel(struct rows *rows, struct rows_process *process,
		      const struct cuda_kernel *kernel)
{
	const struct rows_name *name = store_objects__kernel_name(rows, process, kernel->name);
	int64_t values[] = {
		at(rows, kernel->start),
		at(rows, kernel->end),
		kernel->device,
		kernel->context,
		kernel->stream,
		kernel->head.correlation,
		process->global_pid,
		name ? name->pretty : 0,
		name ? name->brief : 0,
		name ? name->plain : 0,
		kernel->launch_type + 1,
		kernel->registers,
		kernel->grid[0],
		kernel->grid[1],
		kernel->grid[2],
		kernel->block[0],
		kernel->block[1],
		kernel->block[2],
		kernel->static_shared,
		kernel->dynamic_shared,
		kernel->local_per_thread,
		0,
		0,
		or_null(kernel->graph_node),
		or_null(kernel->graph),
	};

	return name ? add(rows, DB_KERNEL, values) : -ENOMEM;
}

/* As the host asked for it: when the GPU made it is not known. */
static int put_asked_copy(struct rows *rows, const struct rows_process *process,
			  const struct cuda_memcpy *copy)
{
	int64_t values[] = {at(rows, copy->start), at(rows, copy->end), process->global_pid,
			    copy->bytes,	   copy->copy_kind,	copy->copies};

	return add(rows, DB_COPIES, values);
}

static int put_memcpy(struct rows *rows, const struct rows_process *process,
		      const struct cuda_memcpy *copy)
{
	int64_t values[] = {
		at(rows, copy->start),
		at(rows, copy->end),
		copy->device,
		copy->context,
		copy->stream,
		copy->head.correlation,
		process->global_pid,
		copy->bytes,
		copy->copy_kind,
		memory_kind(copy->src_kind),
		memory_kind(copy->dst_kind),
		copy->src_device,
		copy->src_context,
		copy->dst_device,
		copy->dst_context,
		DB_NULL,
		or_null(copy->graph_node),
		DB_NULL,
		copy->copies ? copy->copies : 1,
	};

	if (process->source == EVENT_SOURCE_DRIVER && copy->device == ~0u)
		return put_asked_copy(rows, process, copy);
	return add(rows, DB_MEMCPY, values);
}

static int put_memset(struct rows *rows, const struct rows_process *process,
		      const struct cuda_memset *set)
{
	int64_t values[] = {
		at(rows, set->start),
		at(rows, set->end),
		set->device,
		set->context,
		set->stream,
		set->head.correlation,
		process->global_pid,
		set->value,
		set->bytes,
		or_null(set->graph_node),
		memory_kind(set->memory_kind),
	};

	return add(rows, DB_MEMSET, values);
}

static int put_memory(struct rows *rows, const struct rows_process *process,
		      const struct cuda_memory *memory)
{
	int64_t values[] = {
		at(rows, memory->time),
		process->global_pid,
		memory->device,
		memory->context,
		memory->address,
		memory->pc,
		memory->bytes,
		memory_kind(memory->kind),
		memory->operation - 1,
		memory->head.correlation,
		memory->asynchronous ? memory->stream : DB_NULL,
		or_null(memory->pool),
		memory->pool ? (int64_t)memory->pool_size : DB_NULL,
		memory->pool ? (int64_t)memory->pool_used : DB_NULL,
	};

	return add(rows, DB_MEMORY, values);
}

static int put_pool(struct rows *rows, const struct rows_process *process,
		    const struct cuda_memory_pool *pool)
{
	int64_t values[] = {
		at(rows, pool->time),
		process->global_pid,
		pool->device,
		pool->address,
		pool->operation,
		pool->type,
		pool->head.correlation,
		pool->keep,
		pool->threshold,
		pool->size,
		pool->used,
	};

	return add(rows, DB_POOL, values);
}

static int put_sync(struct rows *rows, const struct rows_process *process,
		    const struct cuda_sync *sync)
{
	int64_t values[] = {
		at(rows, sync->start),
		at(rows, sync->end),
		store_objects__device_of(process, sync->context),
		sync->context,
		sync->stream,
		sync->head.correlation,
		process->global_pid,
		sync->type,
		sync->event,
		or_null(sync->event_sync),
	};

	return add(rows, DB_SYNC, values);
}

static int put_graph(struct rows *rows, const struct rows_process *process,
		     const struct cuda_graph *graph)
{
	int64_t values[] = {
		at(rows, graph->start), at(rows, graph->end), graph->device,
		graph->context,		graph->stream,	      graph->head.correlation,
		process->global_pid,	graph->graph,	      graph->graph,
	};

	return add(rows, DB_GRAPH, values);
}

/* CUpti_ActivityOverheadKind → ENUM_CUPTI_OVERHEAD_TYPE: 0, 1, 1 << 16 ... in the order of 1 ... */
static int64_t overhead_type(uint32_t kind)
{
	return kind >> 16 ? (int64_t)(kind >> 16) + 2 : kind == 1 ? 2 : 0;
}

static int put_overhead(struct rows *rows, const struct rows_process *process,
			const struct cuda_overhead *overhead)
{
	uint32_t tid = overhead->object_kind == 2 ? overhead->object[1] : 0;
	int64_t values[] = {
		at(rows, overhead->start),     at(rows, overhead->end),	   EVENT_CLASS_OVERHEAD,
		global_tid(process, tid),      overhead->head.correlation, DB_NULL,
		overhead_type(overhead->kind),
	};

	return add(rows, DB_OVERHEAD, values);
}

static int put_jit(struct rows *rows, const struct rows_process *process,
		   const struct cuda_jit *jit)
{
	const char *path = jit->cache_path ? names__get(process->texts, jit->cache_path) : NULL;

	rows->count++;
	return db__run(rows->db,
		       "INSERT INTO CUPTI_ACTIVITY_KIND_JIT "
		       "VALUES (?, ?, ?, ?, ?, NULL, 2, ?, ?, ?, ?, ?, ?)",
		       "iiiiiiiiiit", at(rows, jit->start), at(rows, jit->end),
		       (int64_t)EVENT_CLASS_JIT, global_tid(process, jit->tid),
		       (int64_t)jit->head.correlation, (int64_t)jit->entry, (int64_t)jit->operation,
		       (int64_t)jit->device, (int64_t)jit->operation_id, (int64_t)jit->cache_bytes,
		       path);
}

/* The kinds of copy that Nsight gives to migrations, by CUPTI's counter. */
static int64_t migration_kind(uint32_t counter)
{
	return counter == 1 ? 11 : counter == 2 ? 12 : 13;
}

static int put_migration(struct rows *rows, const struct rows_process *process,
			 const struct cuda_uvm *uvm)
{
	uint32_t device = uvm->counter == 2 ? uvm->source : uvm->destination;
	int64_t values[] = {
		at(rows, uvm->start),
		at(rows, uvm->end ? uvm->end : uvm->start),
		device == ~0u ? 0 : device,
		0,
		uvm->stream,
		uvm->head.correlation,
		process->global_pid,
		uvm->value,
		migration_kind(uvm->counter),
		4,
		4,
		uvm->source == ~0u ? DB_NULL : uvm->source,
		DB_NULL,
		uvm->destination == ~0u ? DB_NULL : uvm->destination,
		DB_NULL,
		uvm->flags,
		DB_NULL,
		uvm->address,
		1,
	};

	return add(rows, DB_MEMCPY, values);
}

static int put_uvm(struct rows *rows, const struct rows_process *process,
		   const struct cuda_uvm *uvm)
{
	if (uvm->counter == 1 || uvm->counter == 2 || uvm->counter == 8)
		return put_migration(rows, process, uvm);
	if (uvm->counter == 3) {
		int64_t values[] = {at(rows, uvm->start), process->global_pid, uvm->address, 0, 0};

		return add(rows, DB_CPU_FAULT, values);
	}
	if (uvm->counter == 4) {
		int64_t values[] = {
			at(rows, uvm->start), at(rows, uvm->end ? uvm->end : uvm->start),
			process->global_pid,  uvm->source == ~0u ? 0 : uvm->source,
			uvm->address,	      uvm->value,
			uvm->flags,
		};

		return add(rows, DB_GPU_FAULT, values);
	}
	int64_t values[] = {
		at(rows, uvm->start), at(rows, uvm->end ? uvm->end : uvm->start),
		process->global_pid,  uvm->counter,
		uvm->value,	      uvm->address,
		uvm->source,	      uvm->destination,
	};

	return add(rows, DB_UVM, values);
}

static int put_nvtx(struct rows *rows, struct rows_process *process, const struct cuda_nvtx *nvtx)
{
	static const int64_t types[] = {34, 34, 59, 60};
	int64_t text = nvtx->text ? store_objects__plain_name(rows, process, nvtx->text) : 0;
	int64_t domain = nvtx->domain ? store_objects__domain(rows, process, nvtx->domain) : 0;
	int64_t values[] = {
		at(rows, nvtx->start),
		nvtx->kind == 1 ? DB_NULL : at(rows, nvtx->end),
		types[nvtx->kind & 3],
		or_null(nvtx->range),
		or_null(nvtx->category),
		or_null(nvtx->color),
		global_tid(process, nvtx->tid),
		text,
		domain,
	};

	if (text < 0 || domain < 0)
		return text < 0 ? (int)text : (int)domain;
	return add(rows, DB_NVTX, values);
}

static int put(struct rows *rows, struct rows_process *process, const union rows_record *record,
	       uint8_t group)
{
	switch (record->head.kind) {
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		return put_launch(rows, process, &record->launch);
	case CUDA_RECORD_KERNEL:
		return put_kernel(rows, process, &record->kernel);
	case CUDA_RECORD_MEMCPY:
		return put_memcpy(rows, process, &record->copy);
	case CUDA_RECORD_MEMSET:
		return put_memset(rows, process, &record->set);
	case CUDA_RECORD_MEMORY:
		return put_memory(rows, process, &record->memory);
	case CUDA_RECORD_MEMORY_POOL:
		return put_pool(rows, process, &record->pool);
	case CUDA_RECORD_SYNC:
		return put_sync(rows, process, &record->sync);
	case CUDA_RECORD_GRAPH:
		return put_graph(rows, process, &record->graph);
	case CUDA_RECORD_API:
		return put_api(rows, process, &record->api, group);
	case CUDA_RECORD_GRAPH_INSTANTIATE:
		return put_api(rows, process, &record->api, group);
	case CUDA_RECORD_OVERHEAD:
		return put_overhead(rows, process, &record->overhead);
	case CUDA_RECORD_JIT:
		return put_jit(rows, process, &record->jit);
	case CUDA_RECORD_UVM:
		return put_uvm(rows, process, &record->uvm);
	case CUDA_RECORD_NVTX:
		return put_nvtx(rows, process, &record->nvtx);
	case SPOOL_SAMPLE:
		return 0;
	default:
		return store_objects__object(rows, process, record);
	}
}

int store_rows__chain(struct rows *rows, enum spool_kind kind, const uint8_t *data, size_t size)
{
	return store_chains__fact(rows->chains, kind, data, size);
}

bool store_rows__want_samples(const struct rows *rows)
{
	return store_chains__any(rows->chains);
}

int store_rows__sample(struct rows *rows, uint32_t number, const struct cuda_record *record,
		       size_t size)
{
	struct spool_sample sample;

	if (!store_objects__find(rows, number) || size < sizeof(sample) ||
	    record->kind != SPOOL_SAMPLE)
		return 0;
	memcpy(&sample, record, sizeof(sample));
	return store_chains__sample(rows->chains, number, &sample);
}

int store_rows__record(struct rows *rows, uint32_t number, uint8_t group,
		       const struct cuda_record *data, size_t size)
{
	struct rows_process *process = store_objects__find(rows, number);
	union rows_record record;

	if (!process || size < sizeof(*data))
		return 0;
	/* A file of another version may have shorter or longer records: what is missing is 0. */
	memset(&record, 0, sizeof(record));
	memcpy(&record, data, size < sizeof(record) ? size : sizeof(record));
	return put(rows, process, &record, group);
}
