// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects are rare, and programs may make tens of thousands: streams are counted by context, kind
 * and priority, and a process whose objects nobody requested costs a pointer. Pools are reported
 * with allocations, too. Bounded; the tool's one thread.
 */
#include "cuda-trace/stat/stat_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By what they are, as several processes have the same ones; by name where there is no number. */
static bool is_same_device(const struct stat_device *a, const struct stat_device *b)
{
	return !memcmp(a->record.uuid, b->record.uuid, sizeof(a->record.uuid)) &&
	       !memcmp(a->record.mig_uuid, b->record.mig_uuid, sizeof(a->record.mig_uuid)) &&
	       !strcmp(a->name, b->name);
}

static void add_device(struct stat_objects *objects, const struct stat_device *device)
{
	for (uint32_t i = 0; i < objects->device_count; i++) {
		if (!is_same_device(&objects->devices[i], device))
			continue;
		objects->devices[i].processes += device->processes;
		return;
	}
	if (objects->device_count == STAT_MAX_DEVICES)
		objects->devices_left_out++;
	else
		objects->devices[objects->device_count++] = *device;
}

static void add_context(struct stat_objects *objects, const struct stat_context *context)
{
	for (uint32_t i = 0; i < objects->context_count; i++)
		if (objects->contexts[i].pid == context->pid &&
		    objects->contexts[i].record.context == context->record.context)
			return;
	if (objects->context_count == STAT_MAX_CONTEXTS)
		objects->contexts_left_out++;
	else
		objects->contexts[objects->context_count++] = *context;
}

static void add_streams(struct stat_objects *objects, const struct stat_streams *streams)
{
	struct stat_streams *line = objects->streams;

	for (uint32_t i = 0; i < objects->stream_count; i++, line++) {
		if (line->pid != streams->pid || line->context != streams->context ||
		    line->priority != streams->priority || line->flag != streams->flag)
			continue;
		line->count += streams->count;
		return;
	}
	if (objects->stream_count == STAT_MAX_STREAMS)
		objects->streams_left_out += streams->count;
	else
		objects->streams[objects->stream_count++] = *streams;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_pool(struct stat_objects *objects, const struct stat_pool *pool, bool fresh)
{
	/* The latest first: another pool may come to have the address of one that is gone. */
	for (uint32_t i = objects->pool_count; i-- > 0;) {
		struct stat_pool *line = &objects->pools[i];

		if (line->pid != pool->pid || line->address != pool->address)
			continue;
		if (fresh && line->destroyed)
			break;
		line->peak_size = most(line->peak_size, pool->peak_size);
		line->peak_used = most(line->peak_used, pool->peak_used);
		line->threshold = most(line->threshold, pool->threshold);
		line->trims += pool->trims;
		line->destroyed |= pool->destroyed;
		return;
	}
	if (objects->pool_count == STAT_MAX_POOLS)
		objects->pools_left_out++;
	else
		objects->pools[objects->pool_count++] = *pool;
}

static void add_device_of(struct stat_objects *objects, const struct process *process,
			  const struct cuda_device *record)
{
	const char *name = process__name(process, record->name);
	struct stat_device device = {.record = *record, .processes = 1};

	strncpy(device.name, name ? name : "", sizeof(device.name) - 1);
	add_device(objects, &device);
}

/* Allocations say how large their pool is; only a pool's own record says what became of it. */
static void add_pool_of(struct stat_objects *objects, const struct process *process,
			const struct cuda_record *record)
{
	const struct cuda_memory *memory = (const void *)record;
	const struct cuda_memory_pool *own = (const void *)record;
	struct stat_pool pool = {.pid = process->pid};

	if (record->kind == CUDA_RECORD_MEMORY) {
		pool.device = memory->device;
		pool.address = memory->pool;
		pool.peak_size = memory->pool_size;
		pool.peak_used = memory->pool_used;
		pool.imported = memory->pool_type == 2;
	} else {
		pool.device = own->device;
		pool.address = own->address;
		pool.peak_size = own->size;
		pool.peak_used = own->used;
		pool.threshold = own->threshold;
		pool.trims = own->operation == 3;
		pool.imported = own->type == 2;
		pool.destroyed = own->operation == 2;
	}
	add_pool(objects, &pool, record->kind == CUDA_RECORD_MEMORY_POOL && own->operation == 1);
}

static bool is_object(const struct cuda_record *record)
{
	switch (record->kind) {
	case CUDA_RECORD_MEMORY:
		return ((const struct cuda_memory *)record)->pool;
	case CUDA_RECORD_MEMORY_POOL:
	case CUDA_RECORD_DEVICE:
	case CUDA_RECORD_CONTEXT:
	case CUDA_RECORD_STREAM:
		return true;
	}
	return false;
}

void stat_objects__record(struct stat_objects **objects, const struct process *process,
			  const struct cuda_record *record)
{
	const struct cuda_stream *stream = (const void *)record;

	if (!is_object(record))
		return;
	if (!*objects)
		*objects = calloc(1, sizeof(**objects));
	if (!*objects)
		return;
	if (record->kind == CUDA_RECORD_DEVICE)
		add_device_of(*objects, process, (const void *)record);
	else if (record->kind == CUDA_RECORD_CONTEXT)
		add_context(*objects, &(const struct stat_context){
					      process->pid, *(const struct cuda_context *)record});
	else if (record->kind == CUDA_RECORD_STREAM)
		add_streams(*objects,
			    &(const struct stat_streams){process->pid, stream->context,
							 stream->priority, stream->flag, 1});
	else
		add_pool_of(*objects, process, record);
}

void stat_objects__merge(struct stat_objects **sum, const struct stat_objects *of)
{
	struct stat_objects *to;

	if (!of)
		return;
	if (!*sum)
		*sum = calloc(1, sizeof(**sum));
	to = *sum;
	if (!to)
		return;
	for (uint32_t i = 0; i < of->device_count; i++)
		add_device(to, &of->devices[i]);
	for (uint32_t i = 0; i < of->context_count; i++)
		add_context(to, &of->contexts[i]);
	for (uint32_t i = 0; i < of->stream_count; i++)
		add_streams(to, &of->streams[i]);
	/* Each of them was one: of the same address are those that followed each other. */
	for (uint32_t i = 0; i < of->pool_count; i++)
		if (to->pool_count < STAT_MAX_POOLS)
			to->pools[to->pool_count++] = of->pools[i];
		else
			to->pools_left_out++;
	to->devices_left_out += of->devices_left_out;
	to->contexts_left_out += of->contexts_left_out;
	to->streams_left_out += of->streams_left_out;
	to->pools_left_out += of->pools_left_out;
}
