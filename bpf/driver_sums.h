/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of the driver, added up one by one: a process without an agent sends no batches. What the
 * GPU does is not seen, so that no time of it is counted. Included once, by aggregate.bpf.c.
 */
#ifndef BPF_DRIVER_SUMS_H
#define BPF_DRIVER_SUMS_H

#define DRIVER_TID(parcel) 0 /* nobody asks which thread it was */
#include "bpf/driver.h"
#include "bpf/tally_records.h"

/* The lane's record, zeroed and filled in. */
#define DRIVER_RECORD(at, done, type, fill)                                \
	({                                                                 \
		struct type *made = (struct type *)(at)->scratch->records; \
                                                                           \
		__builtin_memset(made, 0, sizeof(*made));                  \
		fill(made, done);                                          \
		made;                                                      \
	})

static __always_inline void sum_driver_copy(struct place *at, const struct driver_result *done)
{
	struct tally *tally = tally_of(at, TALLY_MEMCPY, 0, ~0u, done->call->direction);

	if (!tally)
		return;
	tally->count += done->call->args[3];
	tally->bytes += done->call->args[2];
}

/* False: there was no space, and what is allocated cannot be reported from what was freed. */
static __always_inline bool keep_block(struct scratch *s, const struct cuda_memory *memory)
{
	s->block.bytes = memory->bytes;
	s->block.kind = memory->kind;
	if (!bpf_map_update_elem(&driver_blocks, &s->block_key, &s->block, BPF_ANY))
		return true;
	count_up(&counters.unsized, 1);
	return false;
}

static __always_inline void sum_driver_memory(struct place *at, const struct driver_result *done)
{
	struct cuda_memory *memory = DRIVER_RECORD(at, done, cuda_memory, fill_driver_memory);
	struct scratch *s = at->scratch;
	struct driver_block *block;

	s->block_key.address = memory->address;
	s->block_key.serial = at->process->serial;
	if (is_unknown(done)) {
		add_memory(at, memory, false);
		return;
	}
	if (done->shape == DRIVER_ALLOC) {
		add_memory(at, memory, keep_block(s, memory));
		return;
	}
	block = bpf_map_lookup_elem(&driver_blocks, &s->block_key);
	if (block) {
		/* cuMemFree() frees managed memory, too. */
		memory->bytes = block->bytes;
		memory->kind = block->kind;
		bpf_map_delete_elem(&driver_blocks, &s->block_key);
	}
	add_memory(at, memory, block);
}

static __always_inline void sum_driver_failure(struct place *at, const struct driver_result *done,
					       __u32 family)
{
	__u32 kind = family == CUDA_GROUP_API_COPY ? done->detail : 0;
	struct tally *tally;

	add_error(at, done->result, 0, CUDA_DOMAIN_DRIVER);
	tally = tally_of(at, TALLY_FAILED, kind, AGGREGATE_CONTEXT, family);
	if (tally)
		tally->count++;
}

static __always_inline bool sums_group(__u32 group)
{
	return aggregate_settings.groups >> group & 1;
}

static __always_inline void sum_driver_call(struct place *at, const struct driver_result *done)
{
	switch (done->shape) {
	case DRIVER_LAUNCH:
	case DRIVER_LAUNCH_EX:
	case DRIVER_GRAPH:
		if (sums_group(CUDA_GROUP_LAUNCH))
			add_launch(at, &DRIVER_RECORD(at, done, driver_launch, fill_driver_launch)
						->launch);
		break;
	case DRIVER_SYNC:
		if (sums_group(CUDA_GROUP_SYNC))
			add_sync(at, DRIVER_RECORD(at, done, cuda_sync, fill_driver_sync));
		if (done->result)
			sum_driver_failure(at, done, CUDA_GROUP_API_SYNC);
		break;
	case DRIVER_COPY:
		if (done->result)
			sum_driver_failure(at, done, CUDA_GROUP_API_COPY);
		else if (sums_group(CUDA_GROUP_MEMCPY) || sums_group(CUDA_GROUP_SAMPLED_MEMCPY))
			sum_driver_copy(at, done);
		break;
	case DRIVER_ALLOC:
	case DRIVER_FREE:
		if (done->result)
			sum_driver_failure(at, done, CUDA_GROUP_API_MEMORY);
		else if (sums_group(CUDA_GROUP_MEMORY))
			sum_driver_memory(at, done);
		break;
	}
}

static __always_inline void enter_driver_call(struct place *at, const struct parcel *parcel,
					      const struct driver_result *done)
{
	at->slot = slot_of(at->scratch, at->lane, parcel);
	at->process = bpf_map_lookup_elem(&processes, &at->slot);
	if (!at->process)
		return;
	count_up(&counters.driver_calls, 1);
	if (!at->slot)
		count_up(&counters.others, 1);
	sum_driver_call(at, done);
}

static __always_inline void lose_driver_call(void)
{
	count_up(&counters.full, 1);
}

static __always_inline void count_unknown(void)
{
	count_up(&counters.driver_unknown, 1);
}

static __always_inline void sum_in_lane(const struct driver_result *done)
{
	struct parcel *parcel = done->parcel;
	__u64 *number = bpf_map_lookup_elem(&driver_pids, &parcel->pid);
	struct place at = {};
	__s32 taken;

	if (!number)
		return;
	parcel->source = EVENT_SOURCE_DRIVER;
	parcel->instance = *number;
	taken = lock_lane();
	if (taken < 0 || taken >= AGGREGATE_LANES) {
		count_up(&counters.driver_busy, 1);
		return;
	}
	at.lane = taken;
	at.scratch = enter_lane(taken);
	if (at.scratch)
		enter_driver_call(&at, parcel, done);
	leave_lane(taken, done->end);
}

/* A launch is a success or a failure from the first on, because counters must not fall: so it is
 * added at its return. */
SEC("kprobe")
int driver_return(struct pt_regs *ctx)
{
	struct driver_result done = {.end = bpf_ktime_get_ns()};

	keep_own_stack(ctx);
	if (!finish_driver_call(ctx, bpf_get_attach_cookie(ctx), &done))
		return 0;
	if (is_unknown(&done))
		count_unknown();
	sum_in_lane(&done);
	return 0;
}

#endif
