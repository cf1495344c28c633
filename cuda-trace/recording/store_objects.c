// SPDX-License-Identifier: BSD-2-Clause
/* Processes, names, devices, contexts and streams of an import. */
#include "cuda-trace/recording/store_objects.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/payload_parts.h"
#include "cuda-trace/base/call_arguments.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/recording/store_collectives.h"
#include "cuda-trace/recording/store_threads.h"

/* A hostile process may number its names as it likes; more than this stays "[name N]". */
#define MAX_NAMES      (1u << 20)
#define MAX_PROCESSES  (1u << 20)
#define MAX_FAILURES   (1u << 20)

#define UNKNOWN_DEVICE 0xffffffff

_Static_assert(ROWS_SHAPES == 256, "a byte of a hash");

#define VM	  1ll /* see docs/reference/schema.md: hw 0, vm 1 */
#define GLOBAL_VM (VM << 48)

int store_rows__new(struct rows **result, struct db *db, uint64_t epoch, bool gaps)
{
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->db = db;
	rows->epoch = epoch;
	rows->gaps = gaps;
	rows->callstacks = store_callstacks__new(db);
	if (!rows->callstacks) {
		free(rows);
		return -ENOMEM;
	}
	*result = rows;
	return 0;
}

int64_t store_objects__global_pid(uint32_t pid)
{
	return GLOBAL_VM | (int64_t)(pid & 0xffffff) << 24;
}

struct rows_process *store_objects__find(struct rows *rows, uint32_t number)
{
	if (number >= rows->process_capacity || !rows->processes[number].used)
		return NULL;
	return &rows->processes[number];
}

int store_rows__process(struct rows *rows, uint32_t number, const struct spool_process *info)
{
	struct rows_process *process;

	if (!number || number >= MAX_PROCESSES)
		return 0;
	if (!array_grow__zeroed(rows->processes, rows->process_capacity, (size_t)number + 1))
		return -ENOMEM;
	process = &rows->processes[number];
	if (process->used)
		return 0;
	process->texts = names__new();
	if (!process->texts)
		return -ENOMEM;
	process->used = true;
	process->info = *info;
	process->info.comm[sizeof(process->info.comm) - 1] = '\0';
	process->global_pid = store_objects__global_pid(info->pid);
	return 0;
}

int store_rows__name(struct rows *rows, uint32_t number, uint32_t id, const char *text,
		     size_t length)
{
	struct rows_process *process = store_objects__find(rows, number);

	if (process)
		names__put(process->texts, id, text, length);
	return 0;
}

int store_rows__status(struct rows *rows, uint32_t number, const struct cuda_status *status)
{
	struct rows_process *process = store_objects__find(rows, number);

	if (process) {
		process->status = *status;
		process->has_status = true;
		process->status.cupti_path[sizeof(status->cupti_path) - 1] = '\0';
		process->status.holder[sizeof(status->holder) - 1] = '\0';
		process->status.message[sizeof(status->message) - 1] = '\0';
	}
	return 0;
}

int store_rows__source(struct rows *rows, uint32_t number, const uint8_t *data, size_t size)
{
	struct rows_process *process = store_objects__find(rows, number);

	if (process && size >= sizeof(process->source))
		memcpy(&process->source, data, sizeof(process->source));
	return 0;
}

int store_rows__ended(struct rows *rows, uint32_t number, uint64_t time)
{
	struct rows_process *process = store_objects__find(rows, number);

	if (process)
		process->ended = time;
	return 0;
}

static int64_t nameless(struct rows *rows, uint32_t id)
{
	char text[32];
	/* 0 is no name at all, as stat has it; others are names that never came. */
	int n = id ? snprintf(text, sizeof(text), "[name %u]", id)
		   : snprintf(text, sizeof(text), "[no name]");

	return db__string(rows->db, text, n);
}

int64_t store_objects__plain_name(struct rows *rows, const struct rows_process *process,
				  uint32_t id)
{
	const char *text = names__get(process->texts, id);

	return text ? db__string(rows->db, text, strlen(text)) : nameless(rows, id);
}

struct rows_name *store_objects__name(struct rows_process *process, uint32_t id)
{
	size_t known;

	if (id >= MAX_NAMES)
		id = 0;
	known = process->name_capacity;
	if (!array_grow__to(process->names, process->name_capacity, (size_t)id + 1))
		return NULL;
	for (; known < process->name_capacity; known++)
		process->names[known] = (struct rows_name){.plain = -1};
	return &process->names[id];
}

static int64_t brief_name(struct rows *rows, const char *pretty)
{
	char *brief = store__short_name(pretty);
	int64_t id = brief ? db__string(rows->db, brief, strlen(brief)) : -ENOMEM;

	free(brief);
	return id;
}

const struct rows_name *store_objects__kernel_name(struct rows *rows, struct rows_process *process,
						   uint32_t id)
{
	struct rows_name *name = store_objects__name(process, id);
	const char *pretty;

	if (!name || name->plain >= 0)
		return name;
	pretty = id ? names__pretty(process->texts, id) : NULL;
	name->plain = store_objects__plain_name(rows, process, id);
	name->pretty = pretty ? db__string(rows->db, pretty, strlen(pretty)) : name->plain;
	name->brief = pretty ? brief_name(rows, pretty) : name->plain;
	return name->plain < 0 || name->pretty < 0 || name->brief < 0 ? NULL : name;
}

int64_t store_objects__device_of(const struct rows_process *process, uint32_t context)
{
	for (size_t i = 0; i < process->context_count; i++)
		if (process->contexts[i].context == context)
			return process->contexts[i].device;
	return context ? 0 : UNKNOWN_DEVICE;
}

/* Of a function whose arguments nobody knows all is 0. */
static int put_shape(struct rows *rows, const struct rows_shape *shape)
{
	int64_t sizes[7];
	bool known = false;

	for (int i = 0; i < 7; i++)
		known |= shape->sizes[i] != 0;
	for (int i = 0; i < 7; i++)
		sizes[i] = known ? (int64_t)shape->sizes[i] : DB_NULL;
	return db__run(rows->db, "INSERT INTO CUDA_TRACE_LAUNCH_SHAPES VALUES (?,?,?,?,?,?,?,?)",
		       "iiiiiiii", (int64_t)shape->id, sizes[0], sizes[1], sizes[2], sizes[3],
		       sizes[4], sizes[5], sizes[6]);
}

int64_t store_objects__shape(struct rows *rows, const struct cuda_launch *launch)
{
	struct rows_shape shape = {.sizes = {launch->grid[0], launch->grid[1], launch->grid[2],
					     launch->block[0], launch->block[1], launch->block[2],
					     launch->dynamic_shared}};
	struct rows_shape *known;
	uint32_t hash = 0;
	int err;

	if (launch->head.kind != CUDA_RECORD_LAUNCH)
		return DB_NULL;
	for (int i = 0; i < 7; i++)
		hash = (hash ^ shape.sizes[i]) * 2654435761u;
	known = &rows->shapes[hash >> 24];
	if (known->id && !memcmp(known->sizes, shape.sizes, sizeof(shape.sizes)))
		return known->id;
	shape.id = ++rows->shape_count;
	err = put_shape(rows, &shape);
	*known = shape;
	return err ? err : (int64_t)shape.id;
}

/* Process, correlation and call in one word; never 0, as cbids are not. The driver source has no
 * correlation: a thread makes one call at a time. */
static uint64_t failure_key(const struct rows *rows, const struct rows_process *process,
			    const struct cuda_api *call)
{
	uint64_t key = (uint64_t)(process - rows->processes) << 49;

	if (!call->head.correlation)
		return key | ((call->start << 1 ^ (uint64_t)call->tid << 33) & ((1ull << 49) - 1)) |
		       1;
	return key | (uint64_t)call->head.correlation << 17 | (uint64_t)call->cbid << 1 |
	       (call->domain == CUDA_DOMAIN_RUNTIME);
}

bool store_objects__seen_failure(struct rows *rows, const struct rows_process *process,
				 const struct cuda_api *call)
{
	uint64_t key = failure_key(rows, process, call);
	size_t i;

	if (!rows->failures) {
		rows->failures = calloc(MAX_FAILURES * 2, sizeof(*rows->failures));
		if (!rows->failures)
			return false;
		rows->failure_capacity = MAX_FAILURES * 2;
	}
	i = (key * 0x9e3779b97f4a7c15ull) >> 43;
	for (; rows->failures[i]; i = (i + 1) & (rows->failure_capacity - 1))
		if (rows->failures[i] == key)
			return true;
	if (rows->failure_count < MAX_FAILURES) {
		rows->failures[i] = key;
		rows->failure_count++;
	}
	return false;
}

static void format_uuid(char out[48], const uint8_t uuid[16])
{
	int n = snprintf(out, 48, "GPU-");

	for (int i = 0; i < 16; i++)
		n += snprintf(out + n, 48 - n, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static int put_device(struct rows *rows, const struct rows_process *process,
		      const struct cuda_device *device)
{
	const char *name = names__get(process->texts, device->name);
	char uuid[48], pci[17];
	int err;

	format_uuid(uuid, device->uuid);
	snprintf(pci, sizeof(pci), "%.16s", device->pci);
	/* Ordinals are a process's own: the same one may be two devices. Rows differ by UUID. */
	err = db__run(
		rows->db,
		"INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, isDiscrete, "
		"totalMemory, clockRate, smCount, uuid, cuDevice, computeMajor, computeMinor, "
		"smMajor, smMinor) "
		"SELECT ?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?2, ?9, ?10, ?9, ?10 WHERE NOT "
		"EXISTS (SELECT 1 FROM TARGET_INFO_GPU WHERE id = ?2 AND uuid = ?8)",
		"iittiiitii", GLOBAL_VM, (int64_t)device->device, name, pci,
		(int64_t)device->memory, (int64_t)device->core_clock * 1000,
		(int64_t)device->multiprocessors, uuid, (int64_t)device->major,
		(int64_t)device->minor);
	if (err)
		return err;
	return db__run(
		rows->db,
		"INSERT INTO TARGET_INFO_CUDA_DEVICE SELECT ?1, ?1, ?2, ?3, ?4 WHERE NOT "
		"EXISTS (SELECT 1 FROM TARGET_INFO_CUDA_DEVICE WHERE cudaId = ?1 AND pid = ?2)",
		"iiti", (int64_t)device->device, (int64_t)process->info.pid, uuid,
		(int64_t)device->multiprocessors);
}

static int put_context(struct rows *rows, struct rows_process *process,
		       const struct cuda_context *context)
{
	if (process->context_count < ROWS_CONTEXTS) {
		process->contexts[process->context_count].context = context->context;
		process->contexts[process->context_count++].device = context->device;
	}
	return db__run(rows->db,
		       "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO "
		       "SELECT ?1, 0, 1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM "
		       "TARGET_INFO_CUDA_CONTEXT_INFO WHERE processId = ?2 AND contextId = ?4)",
		       "iiiiiii", (int64_t)context->null_stream, (int64_t)process->info.pid,
		       (int64_t)context->device, (int64_t)context->context,
		       context->green ? (int64_t)context->parent : DB_NULL, (int64_t)context->green,
		       context->green ? (int64_t)context->multiprocessors : DB_NULL);
}

static int put_stream(struct rows *rows, const struct rows_process *process,
		      const struct cuda_stream *stream)
{
	return db__run(rows->db, "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (?, 0, 1, ?, ?, ?, ?)",
		       "iiiii", (int64_t)stream->stream, (int64_t)process->info.pid,
		       (int64_t)stream->context, (int64_t)(uint32_t)stream->priority,
		       (int64_t)stream->flag);
}

int store_objects__object(struct rows *rows, struct rows_process *process,
			  const union any_record *record)
{
	switch (record->head.kind) {
	case CUDA_RECORD_DEVICE:
		return put_device(rows, process, &record->DEVICE);
	case CUDA_RECORD_CONTEXT:
		return put_context(rows, process, &record->CONTEXT);
	case CUDA_RECORD_STREAM:
		return put_stream(rows, process, &record->STREAM);
	default:
		return 0;
	}
}

/* Its GPU records are of windows only. */
static int put_sample(struct rows *rows, const struct rows_process *process)
{
	const struct cuda_status *status = &process->status;

	if (!process->has_status || !status->sample_start || status->time < status->sample_start)
		return 0;
	return db__run(rows->db, "INSERT INTO CUDA_TRACE_SAMPLES VALUES (?,?,?,?,?,?,?)", "iiiiiii",
		       process->global_pid, (int64_t)(status->sample_start - rows->epoch),
		       (int64_t)status->sample_on_ms * 1000000,
		       (int64_t)status->sample_every_ms * 1000000, (int64_t)status->sample_windows,
		       (int64_t)status->sample_open_ns,
		       (int64_t)(status->time - status->sample_start));
}

static int64_t known(int64_t number)
{
	return number < 0 ? DB_NULL : number;
}

static int finish_process(struct rows *rows, struct rows_process *process)
{
	const struct cuda_status *status = &process->status;
	const struct rank *rank = &process->info.rank;
	bool has = process->has_status;
	int err;

	err = db__run(rows->db, "INSERT INTO PROCESSES VALUES (?,?,?)", "iit", process->global_pid,
		      (int64_t)process->info.pid, process->info.comm);
	if (err)
		return err;
	err = db__run(rows->db,
		      "INSERT INTO CUDA_TRACE_PROCESSES VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
		      "?,?)",
		      "iiiiitiiiiiittttiii", process->global_pid, (int64_t)process->info.instance,
		      (int64_t)process->info.pid, (int64_t)process->info.uid,
		      (int64_t)process->info.cgroup, process->info.comm,
		      (int64_t)(process->info.time - rows->epoch),
		      process->ended ? (int64_t)(process->ended - rows->epoch) : DB_NULL,
		      has ? (int64_t)status->state : DB_NULL,
		      has ? (int64_t)status->reason : DB_NULL,
		      has ? (int64_t)status->cupti_version : DB_NULL,
		      has ? (int64_t)status->driver_version : DB_NULL,
		      has ? status->cupti_path : NULL, has ? status->holder : NULL,
		      has ? status->message : NULL, agent_state__source(status, process->source),
		      known(rank->known ? (int64_t)rank->rank : -1), known(rank->local),
		      known(rank->size));
	return err ? err : put_sample(rows, process);
}

static int put_period(struct rows *rows)
{
	char period[16];

	if (!store_callstacks__period(rows->callstacks))
		return 0;
	snprintf(period, sizeof(period), "%u", store_callstacks__period(rows->callstacks));
	return db__run(rows->db, "INSERT INTO META_DATA_CAPTURE VALUES ('STACK_PERIOD', ?)", "t",
		       period);
}

int store_rows__finish(struct rows *rows)
{
	int err = put_period(rows);

	if (!err)
		err = store_threads__finish(rows);

	for (size_t i = 0; !err && i < rows->process_capacity; i++)
		if (rows->processes[i].used) {
			err = store_collectives__finish(rows, &rows->processes[i]);
			if (!err)
				err = finish_process(rows, &rows->processes[i]);
		}
	return err;
}

uint64_t store_rows__count(const struct rows *rows)
{
	return rows->count;
}

void store_rows__free(struct rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->process_capacity; i++) {
		names__free(rows->processes[i].texts);
		payload_parts__free(rows->processes[i].payloads);
		store_collectives__free(&rows->processes[i]);
		free(rows->processes[i].names);
	}
	free(rows->processes);
	free(rows->failures);
	free(rows->thread_texts);
	free(rows->threads);
	store_callstacks__free(rows->callstacks);
	free(rows);
}

static int64_t argument(const struct cuda_api *call, uint8_t flag, uint64_t value)
{
	return call->flags & flag ? (int64_t)value : DB_NULL;
}

int store_objects__arguments(struct rows *rows, struct rows_process *process,
			     const struct cuda_api *call, union record_row *row)
{
	const struct rows_name *kernel;

	if (!(call->flags & CUDA_API_LAUNCH)) {
		row->ERRORS.bytes = argument(call, CUDA_API_BYTES, call->arguments.call.bytes);
		row->ERRORS.address =
			argument(call, CUDA_API_ADDRESS, call->arguments.call.address);
		row->ERRORS.copyKind =
			argument(call, CUDA_API_COPY_KIND, call->arguments.call.copy_kind);
		row->ERRORS.value = argument(call, CUDA_API_VALUE, call->arguments.call.value);
		row->ERRORS.deviceId =
			argument(call, CUDA_API_DEVICE, (int32_t)call->arguments.call.device);
		return 0;
	}
	if (call->arguments.launch.kernel) {
		kernel = store_objects__kernel_name(rows, process, call->arguments.launch.kernel);
		if (!kernel)
			return -ENOMEM;
		row->ERRORS.kernelName = kernel->pretty;
	}
	if (!call_arguments__has_grid(call))
		return 0;
	row->ERRORS.gridX = call->arguments.launch.grid[0];
	row->ERRORS.gridY = call->arguments.launch.grid[1];
	row->ERRORS.gridZ = call->arguments.launch.grid[2];
	row->ERRORS.blockX = call->arguments.launch.block[0];
	row->ERRORS.blockY = call->arguments.launch.block[1];
	row->ERRORS.blockZ = call->arguments.launch.block[2];
	row->ERRORS.dynamicSharedMemory = call->arguments.launch.dynamic_shared;
	return 0;
}
