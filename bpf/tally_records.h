/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How each kind of record is added up. Included once, by bpf/aggregate.bpf.c. A record lies in the
 * lane's own memory with AGGREGATE_MARGIN bytes behind it, so that every field can be read.
 */
#ifndef BPF_TALLY_RECORDS_H
#define BPF_TALLY_RECORDS_H

#include "bpf/gpu_busy.h"
#include "bpf/tally.h"

/* Joins a launch and its kernel for a sample of the correlations, whichever comes first. Hashed,
 * because a loop of 16 calls would else always show the same one. */
static __always_inline bool is_sampled(__u32 correlation)
{
	return !((correlation * 2654435761u >> 8) & (aggregate_settings.queue_sample - 1));
}

static __always_inline void join_halves(struct place *at, const struct cuda_record *record,
					__u64 start, __u32 device)
{
	struct scratch *s = at->scratch;
	__u64 launched, began;
	struct tally *tally;
	struct half *other;

	s->half_key.serial = at->process->serial;
	s->half_key.correlation = record->correlation;
	other = bpf_map_lookup_elem(&halves, &s->half_key);
	if (!other || other->kind == record->kind) {
		s->half.start = start;
		s->half.kind = record->kind;
		s->half.device = device;
		bpf_map_update_elem(&halves, &s->half_key, &s->half, BPF_ANY);
		count_up(&counters.halves, 1);
		return;
	}
	launched = record->kind == CUDA_RECORD_LAUNCH ? start : other->start;
	began = record->kind == CUDA_RECORD_LAUNCH ? other->start : start;
	if (record->kind == CUDA_RECORD_LAUNCH)
		device = other->device;
	bpf_map_delete_elem(&halves, &s->half_key);
	/* Both records are counted already: if there is no tally, only this sample is lost. */
	tally = find_tally(at, TALLY_QUEUE, 0, device, 0);
	if (tally) {
		count_up(&counters.pairs, 1);
		tally->count++;
		/* The GPU's clock is converted: some us before the launch mean "at once". */
		add_time(tally, began > launched ? began - launched : 0);
	}
}

static __always_inline void add_shape(struct shape *shape, const struct cuda_launch *launch)
{
	__u64 threads = (__u64)launch->block[0] * launch->block[1] * launch->block[2];
	__u64 blocks = (__u64)launch->grid[0] * launch->grid[1] * launch->grid[2];
	__u32 bucket;

	shape->launches++;
	if (!(launch->flags & CUDA_LAUNCH_HELD))
		shape->ns += launch->end - launch->start;
	shape->block_threads += threads;
	shape->grid_blocks += blocks;
	shape->threads += threads * blocks;
	bucket = log2_bucket(threads);
	if (bucket < AGGREGATE_BUCKETS)
		shape->block_threads_log2[bucket]++;
	bucket = log2_bucket(blocks);
	if (bucket < AGGREGATE_BUCKETS)
		shape->grid_blocks_log2[bucket]++;
	bucket = log2_bucket(threads * blocks);
	if (bucket < AGGREGATE_BUCKETS)
		shape->threads_log2[bucket]++;
}

static __always_inline void add_error(struct place *at, __s32 result, __u32 context, __u32 domain)
{
	struct tally *tally =
		tally_of(at, TALLY_ERROR, result, context | AGGREGATE_CONTEXT, domain);

	if (tally)
		tally->count++;
}

static __always_inline __u32 span_step(__u64 ns)
{
	__u32 power;

	if (ns < 1 << AGGREGATE_SPAN_BITS)
		return ns;
	power = log2_bucket(ns + 1) - 1;
	return (power - AGGREGATE_SPAN_BITS + 1) << AGGREGATE_SPAN_BITS |
	       (ns >> ((power - AGGREGATE_SPAN_BITS) & 63) & ((1 << AGGREGATE_SPAN_BITS) - 1));
}

/* No window decides what a launch costs that was seen at libcuda's entry points. */
static __always_inline void add_span(struct place *at, const struct cuda_launch *launch)
{
	__u32 stamped = launch->flags & CUDA_LAUNCH_TIMED, lane = at->lane;

	if (launch->domain != CUDA_DOMAIN_DRIVER || launch->end < launch->start ||
	    launch->flags & CUDA_LAUNCH_HELD ||
	    at->scratch->process_key.source != EVENT_SOURCE_AGENT || lane >= AGGREGATE_LANES)
		return;
	spans[lane].launches[stamped & 1]
			    [span_step(launch->end - launch->start) & (AGGREGATE_SPANS - 1)]++;
}

static __always_inline void add_launch(struct place *at, const struct cuda_launch *launch)
{
	struct shape *shape;

	if (launch->result)
		add_error(at, launch->result, launch->context, launch->domain);
	if (launch->head.kind == CUDA_RECORD_GRAPH_LAUNCH) {
		struct tally *tally =
			tally_of(at, TALLY_GRAPH_LAUNCH, 0, launch->context | AGGREGATE_CONTEXT, 0);

		if (!tally)
			return;
		if (launch->result) {
			tally->errors++;
			return;
		}
		tally->count++;
		if (!(launch->flags & CUDA_LAUNCH_HELD))
			add_time(tally, launch->end - launch->start);
		return;
	}
	shape = shape_of(at, launch->context);
	if (!shape)
		return;
	if (launch->result) {
		shape->errors++;
		return;
	}
	add_shape(shape, launch);
	if (aggregate_settings.spans)
		add_span(at, launch);
	if (launch->head.correlation && is_sampled(launch->head.correlation) &&
	    !(launch->flags & CUDA_LAUNCH_HELD))
		join_halves(at, &launch->head, launch->start, 0);
}

/* Lanes share what is kept of a process: each change is made of the value that it was decided on,
 * and of no other. When others are faster so often, one more try is as good as any. */
#define TRIES 16

/* Adds the part of a span that lies behind *until. Records come in the order of their ends,
 * nearly: what ended later and began before counts from there on. */
static __always_inline void add_busy(struct tally *tally, __u64 *until, __u64 start, __u64 end)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < TRIES; i++) {
		__u64 before = *until;

		if (end <= before)
			return;
		if (__sync_val_compare_and_swap(until, before, end) != before)
			continue;
		tally->busy_ns += end - (start > before ? start : before);
		return;
	}
}

static __always_inline bool is_valid(struct tally *tally, __u64 start, __u64 end)
{
	if (start && end >= start)
		return true;
	tally->errors++;
	count_up(&counters.invalid, 1);
	return false;
}

static __always_inline void add_kernel(struct place *at, const struct cuda_kernel *kernel)
{
	__u32 name = aggregate_settings.by_name ? kernel->name : 0, device = kernel->device;
	struct tally *tally = tally_of(at, TALLY_KERNEL, name, device, 0);

	if (kernel->context < AGGREGATE_CONTEXTS)
		at->process->device_of[kernel->context] = device + 1;
	if (!tally)
		return;
	tally->count++;
	if (!is_valid(tally, kernel->start, kernel->end))
		return;
	add_time(tally, kernel->end - kernel->start);
	if (device < AGGREGATE_DEVICES)
		add_busy(tally, &at->process->kernels_until[modulo(device, AGGREGATE_DEVICES)],
			 kernel->start, kernel->end);
	mark_busy(at->process, device, kernel->start, kernel->end, BUSY_KERNEL);
	/* All kernels of a graph share the correlation of its launch: no pairs there. */
	if (!kernel->graph && is_sampled(kernel->head.correlation))
		join_halves(at, &kernel->head, kernel->start, device);
}

static __always_inline void add_memcpy(struct place *at, const struct cuda_memcpy *copy)
{
	struct tally *tally = tally_of(at, TALLY_MEMCPY, 0, copy->device, copy->copy_kind);
	__u32 device = copy->device;

	if (!tally)
		return;
	tally->count += copy->copies ? copy->copies : 1;
	tally->bytes += copy->bytes;
	if (!is_valid(tally, copy->start, copy->end))
		return;
	add_time(tally, copy->end - copy->start);
	if (device < AGGREGATE_DEVICES)
		add_busy(tally, &at->process->copies_until[modulo(device, AGGREGATE_DEVICES)],
			 copy->start, copy->end);
	mark_busy(at->process, device, copy->start, copy->end, BUSY_COPY);
}

static __always_inline void add_memset(struct place *at, const struct cuda_memset *set)
{
	struct tally *tally = tally_of(at, TALLY_MEMSET, 0, set->device, 0);

	if (!tally)
		return;
	tally->count++;
	tally->bytes += set->bytes;
	if (!is_valid(tally, set->start, set->end))
		return;
	add_time(tally, set->end - set->start);
	mark_busy(at->process, set->device, set->start, set->end, BUSY_SET);
}

static __always_inline void raise(__u64 *most, __u64 value)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < TRIES; i++) {
		__u64 before = *most;

		if (value <= before || __sync_val_compare_and_swap(most, before, value) == before)
			return;
	}
}

/* Never below 0: frees of what was allocated before the attach would lead there. */
static __always_inline void subtract(__u64 *live, __u64 bytes)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < TRIES; i++) {
		__u64 before = *live, after = bytes < before ? before - bytes : 0;

		if (__sync_val_compare_and_swap(live, before, after) == before)
			return;
	}
	/* Rather this than a drift that stays. */
	if (bytes <= *live)
		__sync_fetch_and_add(live, -bytes);
}

/* What lives on the device, and the most that ever did. */
static __always_inline void add_live(struct aggregate_process *process, __u32 device, __u64 bytes,
				     bool freed)
{
	__u64 *live = &process->live[device];

	if (freed)
		subtract(live, bytes);
	else
		raise(&process->peak[device], __sync_fetch_and_add(live, bytes) + bytes);
}

enum { MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2, MEMORY_FREED = 2 };

/* sized: the free of what is allocated will say how much it frees, or does so. */
static __always_inline void add_memory(struct place *at, const struct cuda_memory *memory,
				       bool sized)
{
	bool freed = memory->operation == MEMORY_FREED;
	__u32 kind = freed ? TALLY_FREE : TALLY_ALLOC, device = memory->device;
	struct tally *tally = tally_of(at, kind, 0, device, memory->kind);

	if (!tally)
		return;
	tally->count++;
	tally->bytes += memory->bytes;
	if (!sized || memory->kind == MEMORY_PAGEABLE || memory->kind == MEMORY_PINNED)
		return;
	add_live(at->process, at_most(device, AGGREGATE_DEVICES), memory->bytes, freed);
}

static __always_inline void add_any_memory(struct place *at, const struct cuda_memory *memory)
{
	add_memory(at, memory, true);
}

static __always_inline void add_sync(struct place *at, const struct cuda_sync *sync)
{
	struct tally *tally =
		tally_of(at, TALLY_SYNC, 0, sync->context | AGGREGATE_CONTEXT, sync->type);

	if (!tally)
		return;
	tally->count++;
	if (is_valid(tally, sync->start, sync->end))
		add_time(tally, sync->end - sync->start);
}

/* A failed runtime call comes after the driver call inside it, which failed for it. */
static __always_inline bool is_counted(struct aggregate_process *process,
				       const struct cuda_api *api)
{
	if (api->domain == CUDA_DOMAIN_DRIVER) {
		process->failed_tid = api->tid;
		process->failed_start = api->start;
		return false;
	}
	return process->failed_tid == api->tid && process->failed_start >= api->start &&
	       process->failed_start <= api->end;
}

static __always_inline void add_api(struct place *at, const struct cuda_api *api)
{
	__u32 name = api->group == CUDA_GROUP_API_COPY ? api->name : 0;
	struct tally *tally;

	if (!api->result)
		return;
	/* launch_batch reports errors of launches. */
	if (api->group != CUDA_GROUP_API_LAUNCH || api->domain != CUDA_DOMAIN_DRIVER)
		add_error(at, api->result, api->context, api->domain);
	if (is_counted(at->process, api))
		return;
	tally = tally_of(at, TALLY_FAILED, name, api->context | AGGREGATE_CONTEXT, api->group);
	if (tally)
		tally->count++;
	if (name)
		count_up(&counters.failures, 1);
}

static __always_inline void add_uvm(struct place *at, const struct cuda_uvm *uvm)
{
	__u32 device = uvm->destination == ~0u ? uvm->source : uvm->destination;
	struct tally *tally = tally_of(at, TALLY_UVM, 0, device, uvm->counter);

	if (!tally)
		return;
	tally->count++;
	tally->bytes += uvm->value;
	if (uvm->end > uvm->start)
		add_time(tally, uvm->end - uvm->start);
}

static __always_inline void add_overhead(struct place *at, const struct cuda_overhead *overhead)
{
	__u32 kind = overhead->kind < 1 << 16 ? 0 : overhead->kind >> 16;
	struct tally *tally = tally_of(at, TALLY_OVERHEAD, 0, 0, kind);

	if (!tally)
		return;
	tally->count++;
	if (is_valid(tally, overhead->start, overhead->end))
		add_time(tally, overhead->end - overhead->start);
}

static __always_inline void keep_device(struct place *at, const struct cuda_device *device)
{
	learn_gpu(at->process, at->slot, device);
	at->scratch->device_key.process = at->slot;
	at->scratch->device_key.device = device->device;
	/* The reader forgets those of a process up to there. */
	if (device->device >= AGGREGATE_DEVICES ||
	    bpf_map_update_elem(&devices, &at->scratch->device_key, device, BPF_ANY))
		count_up(&counters.devices, 1);
}

static __always_inline void keep_context(struct place *at, const struct cuda_context *context)
{
	if (context->context < AGGREGATE_CONTEXTS)
		at->process->device_of[context->context] = context->device + 1;
}

static __always_inline void keep_object(struct place *at, const struct cuda_record *record)
{
	if (record->kind == CUDA_RECORD_DEVICE)
		keep_device(at, (const void *)record);
	else if (record->kind == CUDA_RECORD_CONTEXT)
		keep_context(at, (const void *)record);
}

static __always_inline void add_any_launch(struct place *at, const struct cuda_record *record)
{
	if (record->kind == CUDA_RECORD_LAUNCH || record->kind == CUDA_RECORD_GRAPH_LAUNCH)
		add_launch(at, (const void *)record);
}

/* One function a kind of record: returns the size of the record at this offset, which it adds if it
 * is of that kind; 0 if there is none. They are global: the verifier checks each once, by itself,
 * and not again for every step of the loop that calls it. */
#define RECORD_FUNCTION(name, what)                                                       \
	__attribute__((noinline)) int name##_record(__u32 lane, __u32 slot, __u32 offset) \
	{                                                                                 \
		struct place at = {.lane = lane, .slot = slot};                           \
		const struct cuda_record *record;                                         \
                                                                                          \
		at.scratch = bpf_map_lookup_elem(&scratches, &lane);                      \
		at.process = bpf_map_lookup_elem(&processes, &slot);                      \
		if (!at.scratch || !at.process || offset > CUDA_BATCH_MAX)                \
			return 0;                                                         \
		record = (const void *)&at.scratch->records[offset];                      \
		if (record->size < sizeof(*record))                                       \
			return 0;                                                         \
		what;                                                                     \
		return record->size;                                                      \
	}

/* Of the two variables of RECORD_FUNCTION(). */
#define ONE_KIND(of, add)                               \
	do {                                            \
		if (record->kind == CUDA_RECORD_##of)   \
			add(&at, (const void *)record); \
	} while (0)

RECORD_FUNCTION(launch, add_any_launch(&at, record))
RECORD_FUNCTION(kernel, ONE_KIND(KERNEL, add_kernel))
RECORD_FUNCTION(memcpy, ONE_KIND(MEMCPY, add_memcpy))
RECORD_FUNCTION(memset, ONE_KIND(MEMSET, add_memset))
RECORD_FUNCTION(memory, ONE_KIND(MEMORY, add_any_memory))
RECORD_FUNCTION(sync, ONE_KIND(SYNC, add_sync))
RECORD_FUNCTION(api, ONE_KIND(API, add_api))
RECORD_FUNCTION(uvm, ONE_KIND(UVM, add_uvm))
RECORD_FUNCTION(overhead, ONE_KIND(OVERHEAD, add_overhead))
RECORD_FUNCTION(device, ONE_KIND(DEVICE, keep_device))
RECORD_FUNCTION(object, keep_object(&at, record))

/* The group is a constant where this is inlined: only its own function is compiled in. */
static __always_inline int add_record(__u32 lane, __u32 slot, __u32 offset, const __u32 group)
{
	switch (group) {
	case CUDA_GROUP_LAUNCH:
		return launch_record(lane, slot, offset);
	case CUDA_GROUP_KERNEL:
	case CUDA_GROUP_SAMPLED_KERNEL:
		return kernel_record(lane, slot, offset);
	case CUDA_GROUP_MEMCPY:
	case CUDA_GROUP_SAMPLED_MEMCPY:
		return memcpy_record(lane, slot, offset);
	case CUDA_GROUP_MEMSET:
	case CUDA_GROUP_SAMPLED_MEMSET:
		return memset_record(lane, slot, offset);
	case CUDA_GROUP_MEMORY:
		return memory_record(lane, slot, offset);
	case CUDA_GROUP_SYNC:
		return sync_record(lane, slot, offset);
	case CUDA_GROUP_UVM:
		return uvm_record(lane, slot, offset);
	case CUDA_GROUP_OVERHEAD:
		return overhead_record(lane, slot, offset);
	case CUDA_GROUP_DEVICE:
		return device_record(lane, slot, offset);
	case CUDA_GROUP_OBJECT:
		return object_record(lane, slot, offset);
	}
	return api_record(lane, slot, offset);
}

#endif
