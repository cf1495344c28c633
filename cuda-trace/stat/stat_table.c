// SPDX-License-Identifier: BSD-2-Clause
/*
 * Per process an array of sums by name id, found by hashing the id: no allocation and no string on
 * the path of a record. Names come in when a process ends. Bounded in every direction, because ids
 * and names are the traced program's. The tool's one thread.
 */
#include "cuda-trace/stat/stat_killed.h"
#include "cuda-trace/stat/stat_table.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/capture/collection.h"
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/collectives/collectives.h"
#include "cuda-trace/stat/stat_energy.h"
#include "cuda-trace/stat/stat_heap.h"
#include "cuda-trace/stat/stat_sums.h"

#define MAX_IDS	      16384 /* of one process; further ones share a line */
#define MAX_KERNELS   32768
#define MAX_NAMES     (12u << 20) /* bytes */
#define MAX_PROCESSES 8192
#define HEADS	      8192
#define NONE	      UINT32_MAX

static const char others[] = "[other kernels]";

struct by_id {
	uint32_t id;
	bool used;
	struct stat_kernel sums; /* without its name */
	struct stat_sampled *sampled;
};

struct tally {
	uint64_t graph_launches, graph_launch_errors;
	struct by_id *slots;
	uint32_t used;
	uint32_t mask;
	struct by_id rest;
	char cgroup[256];
	struct origin origin;
	struct stat_events events;
	struct stat_heap *heap;
	struct stat_objects *objects;	 /* NULL = none came */
	struct stat_host *host;		 /* NULL = its time is not kept */
	struct energy_process *energy;	 /* NULL = its energy is not, or others' */
	struct stat_sample *sample;	 /* NULL = all records come */
	struct stat_ranges *ranges;	 /* NULL = nobody asks */
	struct collectives *collectives; /* NULL = none came */
};

int stat_table__init(struct stat_table *table, struct pattern *pattern, uint64_t min_duration)
{
	memset(table, 0, sizeof(*table));
	table->pattern = pattern;
	table->min_duration = min_duration;
	table->heads = malloc(HEADS * sizeof(*table->heads));
	table->timeline = stat_time__new();
	if (!table->heads || !table->timeline)
		return -1;
	memset(table->heads, 0xff, HEADS * sizeof(*table->heads));
	return 0;
}

void stat_table__free(struct stat_table *table)
{
	for (uint32_t i = 0; i < table->kernel_count; i++)
		if (table->kernels[i].name != others)
			free((char *)table->kernels[i].name);
	free(table->kernels);
	free(table->processes);
	free(table->memory);
	free(table->objects);
	free(table->ranges);
	free(table->heads);
	stat_events__free(&table->events);
	stat_time__free(table->timeline);
	nccl_comms__free(&table->comms);
}

void stat_table__start(struct stat_table *table, struct process *process)
{
	struct tally *tally = calloc(1, sizeof(*tally));

	process->data = tally;
	if (!tally)
		return;
	tally->mask = 63;
	tally->slots = calloc(tally->mask + 1, sizeof(*tally->slots));
	if (table->sampled)
		tally->sample = stat_sample__new();
	else
		tally->host = stat_energy__start(table, process, &tally->energy);
	stat_time__clip(tally->host, collection__windows(process));
	if (table->ranges_reported && !table->sampled)
		tally->ranges = stat_ranges__new(&table->ranged);
	/* Now, because at the end the process is gone. */
	if (!table->past) {
		cgroup__of(process->pid, process->cgroup, tally->cgroup, sizeof(tally->cgroup));
		origin__find(process->pid, tally->cgroup, &tally->origin);
	}
}

static struct by_id *find(const struct tally *tally, uint32_t id)
{
	uint32_t i = id * 2654435761u >> 8;

	for (;; i++) {
		struct by_id *slot = &tally->slots[i & tally->mask];

		if (!slot->used || slot->id == id)
			return slot;
	}
}

static bool grow(struct tally *tally)
{
	struct tally larger = {.mask = tally->mask * 2 + 1};

	larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (uint32_t i = 0; i <= tally->mask; i++)
		if (tally->slots[i].used)
			*find(&larger, tally->slots[i].id) = tally->slots[i];
	free(tally->slots);
	tally->slots = larger.slots;
	tally->mask = larger.mask;
	return true;
}

static struct by_id *slot_of(struct tally *tally, uint32_t id)
{
	struct by_id *slot;

	if (!tally->slots)
		return &tally->rest;
	slot = find(tally, id);
	if (slot->used)
		return slot;
	if (tally->used == MAX_IDS)
		return &tally->rest;
	if (tally->used * 2 > tally->mask) {
		if (!grow(tally))
			return &tally->rest;
		slot = find(tally, id);
	}
	slot->used = true;
	slot->id = id;
	tally->used++;
	return slot;
}

static void note_shape(struct stat_kernel *sums, const uint32_t grid[3], const uint32_t block[3])
{
	if (!sums->shaped) {
		memcpy(sums->grid, grid, sizeof(sums->grid));
		memcpy(sums->block, block, sizeof(sums->block));
	} else if (memcmp(sums->grid, grid, sizeof(sums->grid)) ||
		   memcmp(sums->block, block, sizeof(sums->block))) {
		sums->varies = true;
	}
	sums->shaped = true;
}

static void add_kernel(struct stat_table *table, struct tally *tally, const struct process *process,
		       const struct cuda_kernel *kernel)
{
	/* A record that ends before it starts has no duration; the agent counts such as invalid. */
	uint64_t ns = kernel->end > kernel->start ? kernel->end - kernel->start : 0;
	struct stat_kernel *sums;
	struct by_id *slot;

	if (ns < table->min_duration)
		return;
	stat_ranges__record(tally->ranges, &kernel->head);
	slot = slot_of(tally, kernel->name);
	sums = &slot->sums;
	if (tally->sample)
		stat_sample__kernel(tally->sample, process, &slot->sampled, kernel);
	sums->graph_kernels += !!kernel->graph;
	note_shape(sums, kernel->grid, kernel->block);
	sums->total_ns += ns;
	if (!sums->count++ || ns < sums->min_ns)
		sums->min_ns = ns;
	if (ns > sums->max_ns)
		sums->max_ns = ns;
}

static bool was_reported(const struct cuda_launch *launch)
{
	return launch->flags & DRIVER_LAUNCH_FAILED && !(launch->flags & CUDA_LAUNCH_RANGES);
}

/* Where failures have a group of their own that is listened to, it has each. The driver source
 * always does; of what it reports at the entry of a call the result is not known. */
static void add_failure(const struct stat_table *table, struct tally *tally,
			const struct process *process, const struct cuda_record *record)
{
	struct stat_errors *errors = &tally->events.errors;
	bool alone = !table->errors_reported && process->source == EVENT_SOURCE_AGENT;

	if (record->kind == CUDA_RECORD_GRAPH_INSTANTIATE && alone)
		stat_errors__call(errors, process, (const void *)record);
	else if (record->kind == CUDA_RECORD_API &&
		 (alone || process->group == CUDA_GROUP_API_ERROR))
		stat_errors__call(errors, process, (const void *)record);
	else if (!alone)
		return;
	else if (record->kind == CUDA_RECORD_SYNC)
		stat_errors__wait(errors, (const void *)record);
	else if (record->kind == CUDA_RECORD_LAUNCH || record->kind == CUDA_RECORD_GRAPH_LAUNCH)
		stat_errors__launch(errors, (const void *)record);
}

/* A process without calls may replay what it captured before. */
static void note_collective(struct stat_table *table, struct tally *tally,
			    const struct process *process, const struct cuda_kernel *kernel)
{
	if (tally->collectives)
		collectives__kernel(tally->collectives, kernel,
				    process__name(process, kernel->name));
	else if (table->collectives_reported && kernel->graph &&
		 collectives__is_nccl(process__name(process, kernel->name)))
		table->comms.unknown_nodes++;
}

void stat_table__record(struct stat_table *table, struct process *process,
			const struct cuda_record *record)
{
	struct tally *tally = process->data;
	const struct cuda_launch *launch = (const struct cuda_launch *)record;
	struct stat_kernel *sums;
	int line;

	if (!tally)
		return;
	if (process->source == EVENT_SOURCE_AGENT)
		stat_time__record(table->timeline, tally->host, record);
	if (record->kind == CUDA_RECORD_DEVICE && !table->devices_listed)
		return;
	add_failure(table, tally, process, record);
	if (record->kind != CUDA_RECORD_KERNEL)
		stat_ranges__record(tally->ranges, record);
	switch (record->kind) {
	case CUDA_RECORD_KERNEL:
		note_collective(table, tally, process, (const struct cuda_kernel *)record);
		add_kernel(table, tally, process, (const struct cuda_kernel *)record);
		break;
	case CUDA_RECORD_LAUNCH:
		/* The driver's launch below it counts, or its error: see stat_errors.c. */
		if (launch->domain == CUDA_DOMAIN_RUNTIME)
			break;
		if (tally->collectives && !table->past)
			collectives__launch(tally->collectives, launch,
					    process__name(process, launch->name));
		sums = &slot_of(tally, launch->name)->sums;
		sums->launches += !was_reported(launch);
		sums->launch_errors += !!launch->result;
		/* There will be no kernel; of an unknown function, no grid either. */
		if (process->source == EVENT_SOURCE_DRIVER && !was_reported(launch) &&
		    launch->grid[0])
			note_shape(sums, launch->grid, launch->block);
		sums->untimed += !launch->result && !was_reported(launch) &&
				 !(launch->flags & CUDA_LAUNCH_TIMED);
		break;
	case CUDA_RECORD_GRAPH_NODE:
		if (!table->past)
			collectives__node(tally->collectives, (const void *)record);
		break;
	case CUDA_RECORD_GRAPH_LAUNCH:
		if (launch->domain == CUDA_DOMAIN_RUNTIME)
			break;
		tally->graph_launches += !was_reported(launch);
		tally->graph_launch_errors += !!launch->result;
		break;
	default:
		stat_objects__record(&tally->objects, process, record);
		if (record->kind == CUDA_RECORD_MEMORY && !tally->heap)
			tally->heap = stat_heap__new();
		stat_events__record(&tally->events, tally->heap, process, record);
		line = tally->sample ? stat_events__copy_line(&tally->events, record) : -1;
		if (line >= 0)
			stat_sample__copy(tally->sample, process, line, record);
	}
}

/* Of a sample, too few kernels come to tell ranks apart: the calls are counted. */
void stat_table__collective(struct stat_table *table, struct process *process,
			    const struct event_collective *call,
			    const struct recorded_kernel *kernel)
{
	struct tally *tally = process->data;
	const struct collectives_options options = {.pid = process->pid,
						    .rank = process->rank,
						    .timed = !table->sampled,
						    .graphs.gaps = table->windowed};

	if (tally && !tally->collectives)
		tally->collectives = collectives__new(&table->comms, &options);
	if (tally && kernel)
		collectives__recorded(tally->collectives, call, kernel);
	else if (tally)
		collectives__call(tally->collectives, call);
}

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h % HEADS;
}

static struct stat_kernel *add_name(struct stat_table *table, const char *name, uint32_t head)
{
	struct stat_kernel *kernel;
	size_t length = strlen(name) + 1;

	if (!array_grow__for_one(table->kernels, table->kernel_capacity, table->kernel_count))
		return NULL;
	kernel = &table->kernels[table->kernel_count];
	memset(kernel, 0, sizeof(*kernel));
	kernel->name = name == others ? others : strdup(name);
	if (!kernel->name)
		return NULL;
	table->name_bytes += length;
	kernel->next = table->heads[head];
	table->heads[head] = table->kernel_count++;
	return kernel;
}

/* The line of a name over all processes. */
static struct stat_kernel *line_of(struct stat_table *table, const char *name)
{
	uint32_t head = hash(name);

	for (uint32_t i = table->heads[head]; i != NONE; i = table->kernels[i].next)
		if (!strcmp(table->kernels[i].name, name))
			return &table->kernels[i];
	if (name != others &&
	    (table->kernel_count >= MAX_KERNELS || table->name_bytes + strlen(name) > MAX_NAMES))
		return line_of(table, others);
	return add_name(table, name, head);
}

static void merge(struct stat_kernel *to, const struct stat_kernel *from)
{
	if (from->count && (!to->count || from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	if (from->shaped)
		note_shape(to, from->grid, from->block);
	to->varies |= from->varies;
	to->launches += from->launches;
	to->launch_errors += from->launch_errors;
	to->count += from->count;
	to->total_ns += from->total_ns;
	to->sampled += from->sampled;
	to->unsampled += from->unsampled;
	to->error2 += from->error2;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
}

static void add_slot(struct stat_table *table, struct stat_sums *sums, const char *name,
		     const struct tally *tally, const struct by_id *slot)
{
	struct stat_kernel from = slot->sums, *line;

	if (!from.launches && !from.count)
		return;
	if (!pattern__matches(table->pattern, name))
		return;
	if (tally->sample)
		stat_sample__estimate(tally->sample, slot->sampled, tally->graph_launches, &from);
	sums->launches += from.launches;
	sums->launch_errors += from.launch_errors;
	sums->untimed += from.untimed;
	sums->graph_kernels += from.graph_kernels;
	sums->kernels += from.count + from.unsampled;
	sums->gpu_ns += from.total_ns;
	sums->sampled_kernels += from.sampled;
	sums->unsampled_launches += from.unsampled;
	sums->gpu_error2 += from.error2;
	line = line_of(table, *name ? name : "[no name]");
	if (line)
		merge(line, &from);
}

static void keep_process(struct stat_table *table, const struct process *process,
			 const struct tally *tally, const struct stat_sums *sums)
{
	struct stat_process *kept;

	if (table->process_count >= MAX_PROCESSES ||
	    !array_grow__for_one(table->processes, table->process_capacity, table->process_count)) {
		table->processes_left_out++;
		return;
	}
	kept = &table->processes[table->process_count++];
	memset(kept, 0, sizeof(*kept));
	kept->pid = process->pid;
	kept->uid = process->uid;
	kept->sums = *sums;
	kept->status = process->status;
	kept->source = process__source(process);
	memcpy(kept->client, process->client, sizeof(kept->client));
	kept->yields = process->yields;
	kept->yielded_ns = process->yielded_ns;
	stat_sample__windows(process, &kept->windows);
	kept->exit_status = process->exit_status;
	kept->observed_since = process->observed_since;
	kept->no_agent = process->no_agent;
	memcpy(kept->comm, process->comm, sizeof(kept->comm));
	kept->rank = process->rank;
	memcpy(kept->cgroup, tally->cgroup, sizeof(kept->cgroup));
	kept->origin = tally->origin;
}

static void free_tally(struct tally *tally)
{
	for (uint32_t i = 0; tally->slots && i <= tally->mask; i++)
		free(tally->slots[i].sampled);
	free(tally->rest.sampled);
	stat_sample__free(tally->sample);
	stat_events__free(&tally->events);
	stat_heap__free(tally->heap);
	stat_ranges__free(tally->ranges);
	collectives__free(tally->collectives);
	free(tally->objects);
	free(tally->slots);
	free(tally);
}

void stat_table__end(struct stat_table *table, struct process *process)
{
	struct tally *tally = process->data;
	struct stat_sums sums = {};

	if (!tally)
		return;
	if (process->source == EVENT_SOURCE_DRIVER) {
		stat_sample__free(tally->sample);
		tally->sample = NULL;
	}
	for (uint32_t i = 0; tally->slots && i <= tally->mask; i++)
		if (tally->slots[i].used)
			add_slot(table, &sums, process__pretty_name(process, tally->slots[i].id),
				 tally, &tally->slots[i]);
	add_slot(table, &sums, others, tally, &tally->rest);
	if (tally->sample && table->copies_sampled)
		stat_sample__estimate_copies(tally->sample, process, &tally->events);
	sums.graph_launches = tally->graph_launches;
	sums.graph_launch_errors = tally->graph_launch_errors;
	stat_sums__set_events(&sums, &tally->events);
	sums.launches += tally->events.errors.runtime_launches;
	sums.launch_errors += tally->events.errors.runtime_launches;
	if (process->source == EVENT_SOURCE_DRIVER)
		sums.untimed = sums.launches - sums.launch_errors;
	stat_events__merge(&table->events, &tally->events, process);
	stat_objects__merge(&table->objects, tally->objects);
	if (table->ranges_reported && !table->sampled)
		stat_ranges__merge(&table->ranges, tally->ranges, process,
				   &(struct range_sums){sums.launches - sums.launch_errors +
								sums.graph_launches -
								sums.graph_launch_errors,
							sums.kernels, sums.gpu_ns});
	stat_heap__keep(tally->heap, process, &table->memory, &table->memory_count);
	stat_energy__end(table, process, tally->energy);
	stat_time__name(tally->host, process->pid, process->comm, tally->cgroup);
	stat_time__end(table->timeline, tally->host);
	tally->host = NULL;
	table->killed +=
		process->source == EVENT_SOURCE_AGENT && stat_killed__is_unknown(process, &sums);
	stat_sums__add(&table->totals, &sums);
	if (tally->sample)
		stat_sample__add_windows(process, &table->windows);
	keep_process(table, process, tally, &sums);
	free_tally(tally);
	process->data = NULL;
}

static int compare_kernels(const void *left, const void *right)
{
	const struct stat_kernel *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int compare_processes(const void *left, const void *right)
{
	const struct stat_process *a = left, *b = right;

	if (a->sums.gpu_ns != b->sums.gpu_ns)
		return a->sums.gpu_ns < b->sums.gpu_ns ? 1 : -1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

void stat_table__sort(struct stat_table *table)
{
	stat_time__finish(table->timeline, &table->time);
	if (table->windowed)
		stat_time__set_window(&table->time, table->window_ns);
	table->time.killed = table->killed;
	if (table->kernel_count)
		qsort(table->kernels, table->kernel_count, sizeof(*table->kernels),
		      compare_kernels);
	if (table->process_count)
		qsort(table->processes, table->process_count, sizeof(*table->processes),
		      compare_processes);
	stat_ranges__sort(table->ranges);
}
