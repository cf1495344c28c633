// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which table a record goes to, and the values in its row that are not simply fields of the record.
 */
#include "cuda-trace/recording/store_energy.h"
#include "cuda-trace/recording/store_rows.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/event.h"
#include "cuda-trace/base/api_names.h"
#include "cuda-trace/base/payload_parts.h"
#include "cuda-trace/recording/store_collectives.h"
#include "cuda-trace/recording/store_nvtx.h"
#include "cuda-trace/recording/store_threads.h"
#include "cuda-trace/recording/store_objects.h"

#define EVENT_CLASS_NODE     77
#define EVENT_CLASS_JIT	     102
#define EVENT_CLASS_OVERHEAD 103

#define MANAGED_MEMORY	     5 /* CUpti_ActivityMemoryKind */

static int add(struct rows *rows, enum db_table table, const union record_row *row)
{
	rows->count++;
	return db__insert(rows->db, table, row->values);
}

static void fill(const struct rows *rows, const struct rows_process *process, enum db_table table,
		 const void *record, union record_row *row)
{
	record_columns__to_row(table, record, rows->epoch, process->global_pid, row);
}

/* A row that needs nothing but what the columns say. */
static int put_plain(struct rows *rows, const struct rows_process *process, enum db_table table,
		     const void *record)
{
	union record_row row;

	fill(rows, process, table, record, &row);
	return add(rows, table, &row);
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

/* What a call's row has that is not a field of its record. */
struct call_row {
	int64_t name, launch_name, launch_shape, stream, timed;
};

static int put_call(struct rows *rows, const struct rows_process *process,
		    const struct cuda_api *call, const struct call_row *own)
{
	uint32_t number = process - rows->processes, id = call->head.correlation;
	/* Only launches have stacks, and calls that created nodes of a graph. */
	bool any = own->launch_name != DB_NULL || call->group == CUDA_GROUP_API_GRAPH;
	int64_t chain = any ? store_callstacks__of(rows->callstacks, number, id) : DB_NULL;
	union record_row row;

	if (chain < 0 && chain != DB_NULL)
		return chain;
	/* A call that failed may come twice: as a launch or of its family, and as an error. */
	if (call->result && store_objects__seen_failure(rows, process, call))
		return 0;
	fill(rows, process, DB_RUNTIME, call, &row);
	row.RUNTIME.nameId = own->name;
	row.RUNTIME.callchainId = chain;
	row.RUNTIME.launchName = own->launch_name;
	row.RUNTIME.launchShape = own->launch_shape;
	row.RUNTIME.streamHandle = own->stream;
	row.RUNTIME.timed = own->timed;
	return add(rows, DB_RUNTIME, &row);
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
		.context = launch->context,
	};
	/* Else the kernel's own record has it. */
	bool bare = process->source == EVENT_SOURCE_DRIVER;
	struct call_row own = {
		.name = call_name(rows, launch->domain, launch->cbid),
		.launch_shape = bare ? store_objects__shape(rows, launch) : DB_NULL,
		.stream = rows->gaps ? (int64_t)launch->stream : DB_NULL,
		.timed = rows->gaps ? (launch->flags & CUDA_LAUNCH_TIMED) != 0 : DB_NULL,
	};
	int err = store_collectives__launch(rows, process, launch);

	if (err)
		return err;
	if (own.launch_shape < 0 && own.launch_shape != DB_NULL)
		return own.launch_shape;
	/* Graph launches, and they alone, have 0, the empty name. */
	if (launch->head.kind != CUDA_RECORD_GRAPH_LAUNCH) {
		const struct rows_name *kernel =
			store_objects__kernel_name(rows, process, launch->name);

		if (!kernel)
			return -ENOMEM;
		own.launch_name = kernel->pretty;
	}
	return put_call(rows, process, &call, &own);
}

static int put_error(struct rows *rows, struct rows_process *process, const struct cuda_api *call,
		     int64_t name)
{
	union record_row row;
	int err;

	fill(rows, process, DB_ERRORS, call, &row);
	row.ERRORS.nameId = name;
	row.ERRORS.launch = call->group == CUDA_GROUP_API_LAUNCH;
	err = store_objects__arguments(rows, process, call, &row);
	return err ? err : db__insert(rows->db, DB_ERRORS, row.values);
}

static int put_api(struct rows *rows, struct rows_process *process, const struct cuda_api *call,
		   uint8_t group)
{
	int64_t name = call->name ? store_objects__plain_name(rows, process, call->name)
				  : call_name(rows, call->domain, call->cbid);
	int err = name < 0 ? (int)name : 0;

	if (!err && group == CUDA_GROUP_API_ERROR)
		err = put_error(rows, process, call, name);
	return err ? err
		   : put_call(rows, process, call,
			      &(struct call_row){name, DB_NULL, DB_NULL, DB_NULL, DB_NULL});
}

static int put_kernel(struct rows *rows, struct rows_process *process,
		      const struct cuda_kernel *kernel)
{
	const struct rows_name *name = store_objects__kernel_name(rows, process, kernel->name);
	union record_row row;
	int err;

	if (!name)
		return -ENOMEM;
	fill(rows, process, DB_KERNEL, kernel, &row);
	row.KERNEL.demangledName = name->pretty;
	row.KERNEL.shortName = name->brief;
	row.KERNEL.mangledName = name->plain;
	err = store_collectives__kernel(rows, process, kernel);
	return err ? err : add(rows, DB_KERNEL, &row);
}

static int put_memcpy(struct rows *rows, const struct rows_process *process,
		      struct cuda_memcpy *copy)
{
	/* As the host requested it: when the GPU made it is not known. */
	if (process->source == EVENT_SOURCE_DRIVER && copy->device == ~0u)
		return put_plain(rows, process, DB_COPIES, copy);
	copy->copies = copy->copies ? copy->copies : 1;
	return put_plain(rows, process, DB_MEMCPY, copy);
}

static int put_memory(struct rows *rows, const struct rows_process *process,
		      const struct cuda_memory *memory)
{
	union record_row row;

	fill(rows, process, DB_MEMORY, memory, &row);
	if (!memory->asynchronous)
		row.MEMORY.streamId = DB_NULL;
	if (!memory->pool)
		row.MEMORY.localMemoryPoolSize = row.MEMORY.localMemoryPoolUtilizedSize = DB_NULL;
	return add(rows, DB_MEMORY, &row);
}

static int put_sync(struct rows *rows, const struct rows_process *process,
		    const struct cuda_sync *sync)
{
	union record_row row;

	fill(rows, process, DB_SYNC, sync, &row);
	row.SYNC.deviceId = store_objects__device_of(process, sync->context);
	return add(rows, DB_SYNC, &row);
}

static int put_overhead(struct rows *rows, const struct rows_process *process,
			struct cuda_overhead *overhead)
{
	union record_row row;

	if (overhead->object_kind != 2)
		overhead->object[1] = 0;
	fill(rows, process, DB_OVERHEAD, overhead, &row);
	row.OVERHEAD.eventClass = EVENT_CLASS_OVERHEAD;
	return add(rows, DB_OVERHEAD, &row);
}

static int put_jit(struct rows *rows, const struct rows_process *process,
		   const struct cuda_jit *jit)
{
	const char *path = jit->cache_path ? names__get(process->texts, jit->cache_path) : NULL;
	char *clean = path ? store__clean_text(path, strlen(path)) : NULL;
	union record_row row;
	int err;

	fill(rows, process, DB_JIT, jit, &row);
	row.JIT.eventClass = EVENT_CLASS_JIT;
	row.JIT.overheadType = 2;
	if (clean)
		row.JIT.cachePath = (intptr_t)clean;
	err = add(rows, DB_JIT, &row);
	free(clean);
	return err;
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
	struct cuda_memcpy copy = {
		.head = uvm->head,
		.start = uvm->start,
		.end = uvm->end,
		.bytes = uvm->value,
		.device = device == ~0u ? 0 : device,
		.stream = uvm->stream,
		.src_device = uvm->source,
		.dst_device = uvm->destination,
		.copy_kind = migration_kind(uvm->counter),
		.src_kind = MANAGED_MEMORY,
		.dst_kind = MANAGED_MEMORY,
		.copies = 1,
	};
	union record_row row;

	fill(rows, process, DB_MEMCPY, &copy, &row);
	if (uvm->source == ~0u)
		row.MEMCPY.srcDeviceId = DB_NULL;
	if (uvm->destination == ~0u)
		row.MEMCPY.dstDeviceId = DB_NULL;
	row.MEMCPY.srcContextId = row.MEMCPY.dstContextId = DB_NULL;
	row.MEMCPY.migrationCause = uvm->flags;
	row.MEMCPY.virtualAddress = uvm->address;
	return add(rows, DB_MEMCPY, &row);
}

static int put_uvm(struct rows *rows, const struct rows_process *process, struct cuda_uvm *uvm)
{
	union record_row row;

	uvm->end = uvm->end ? uvm->end : uvm->start;
	if (uvm->counter == 1 || uvm->counter == 2 || uvm->counter == 8)
		return put_migration(rows, process, uvm);
	if (uvm->counter == 3)
		return put_plain(rows, process, DB_CPU_FAULT, uvm);
	if (uvm->counter != 4)
		return put_plain(rows, process, DB_UVM, uvm);
	fill(rows, process, DB_GPU_FAULT, uvm, &row);
	row.GPU_FAULT.deviceId = uvm->source == ~0u ? 0 : uvm->source;
	return add(rows, DB_GPU_FAULT, &row);
}

/* Under the name that Nsight gives it: scripts select by it. */
static int put_graph_node(struct rows *rows, struct rows_process *process,
			  const struct cuda_graph_node *node)
{
	static const char name[] = "Graph Node Creation";
	int64_t id = db__string(rows->db, name, strlen(name));
	union record_row row;
	int err = id < 0 ? (int)id : store_collectives__node(rows, process, node);

	if (err)
		return err;
	fill(rows, process, DB_GRAPH_NODE, node, &row);
	row.GRAPH_NODE.eventClass = EVENT_CLASS_NODE;
	row.GRAPH_NODE.nameId = id;
	return add(rows, DB_GRAPH_NODE, &row);
}

static int put_graph_call(struct rows *rows, const struct rows_process *process,
			  const struct spool_sample *sample)
{
	int64_t chain = store_callstacks__of(rows->callstacks, process - rows->processes,
					     sample->head.correlation);
	union record_row row;

	if (chain < 0)
		return chain == DB_NULL ? 0 : (int)chain;
	fill(rows, process, DB_GRAPH_CALL, sample, &row);
	row.GRAPH_CALL.callchainId = chain;
	return add(rows, DB_GRAPH_CALL, &row);
}

/* Kinds of a newer version have no table. */
static int put_by_columns(struct rows *rows, const struct rows_process *process,
			  const union any_record *record)
{
	for (int i = 0; i < DB_TABLE_COUNT; i++)
		if (record_tables[i].kind && record_tables[i].kind == record->head.kind)
			return put_plain(rows, process, i, record);
	return 0;
}

static int put(struct rows *rows, struct rows_process *process, union any_record *record,
	       uint8_t group)
{
	switch (record->head.kind) {
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		return put_launch(rows, process, &record->LAUNCH);
	case CUDA_RECORD_KERNEL:
		return put_kernel(rows, process, &record->KERNEL);
	case CUDA_RECORD_MEMCPY:
		return put_memcpy(rows, process, &record->MEMCPY);
	case CUDA_RECORD_MEMORY:
		return put_memory(rows, process, &record->MEMORY);
	case CUDA_RECORD_SYNC:
		return put_sync(rows, process, &record->SYNC);
	case CUDA_RECORD_API:
		return put_api(rows, process, &record->API, group);
	case CUDA_RECORD_GRAPH_INSTANTIATE:
		return put_api(rows, process, &record->API, group);
	case CUDA_RECORD_GRAPH_NODE:
		return put_graph_node(rows, process, &record->GRAPH_NODE);
	case CUDA_RECORD_OVERHEAD:
		return put_overhead(rows, process, &record->OVERHEAD);
	case CUDA_RECORD_JIT:
		return put_jit(rows, process, &record->JIT);
	case CUDA_RECORD_UVM:
		return put_uvm(rows, process, &record->UVM);
	case CUDA_RECORD_NVTX_PAYLOAD:
		payload_parts__add(&process->payloads, &record->NVTX_PAYLOAD);
		return 0;
	case CUDA_RECORD_NVTX:
		rows->count++;
		return store_nvtx__event(rows, process, &record->NVTX);
	case SPOOL_SAMPLE:
		return record->sample.start ? put_graph_call(rows, process, &record->sample) : 0;
	case SPOOL_COLLECTIVE:
		return store_collectives__call(rows, process, &record->collective);
	case CUDA_RECORD_DEVICE:
	case CUDA_RECORD_CONTEXT:
	case CUDA_RECORD_STREAM:
		return store_objects__object(rows, process, record);
	default:
		return put_by_columns(rows, process, record);
	}
}

int store_rows__chain(struct rows *rows, enum spool_kind kind, const uint8_t *data, size_t size)
{
	return store_callstacks__fact(rows->callstacks, kind, data, size);
}

int store_rows__text(struct rows *rows, const uint8_t *data, size_t size)
{
	return store_threads__text(rows, data, size);
}

int store_rows__comm(struct rows *rows, uint32_t number, const uint8_t *data, size_t size)
{
	struct rows_process *process = store_objects__find(rows, number);

	return process ? store_collectives__made(rows, process, data, size) : 0;
}

bool store_rows__want_samples(const struct rows *rows)
{
	return store_callstacks__any(rows->callstacks);
}

int store_rows__sample(struct rows *rows, uint32_t number, const struct cuda_record *record,
		       size_t size)
{
	struct spool_sample sample = {.start = 0};

	if (!store_objects__find(rows, number) || size < offsetof(struct spool_sample, start) ||
	    record->kind != SPOOL_SAMPLE)
		return 0;
	memcpy(&sample, record, size < sizeof(sample) ? size : sizeof(sample));
	return store_callstacks__sample(rows->callstacks, number, &sample);
}

int store_rows__record(struct rows *rows, uint32_t number, uint8_t group,
		       const struct cuda_record *data, size_t size)
{
	struct rows_process *process = store_objects__find(rows, number);
	union any_record record;
	int kind = !number && size >= sizeof(*data) ? data->kind : 0;
	bool of_none = kind == SPOOL_THREAD || kind == SPOOL_ENERGY;

	if ((!process && !of_none) || size < sizeof(*data))
		return 0;
	/* A file of another version may have shorter or longer records: what is missing is 0. */
	memset(&record, 0, sizeof(record));
	memcpy(&record, data, size < sizeof(record) ? size : sizeof(record));
	if (kind == SPOOL_THREAD)
		return store_threads__state(rows, &record);
	if (kind == SPOOL_ENERGY)
		return store_energy__step(rows, &record);
	return put(rows, process, &record, group);
}
