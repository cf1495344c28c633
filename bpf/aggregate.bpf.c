// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sums batches in the kernel: every record of a batch is added to a key's counters and
 * histograms, so that the reader's cost follows the number of live keys, not of events. Names,
 * states and ends of processes, which are rare, come by stream.bpf.c. See bpf/aggregate.h for
 * lanes and generations. Runs in the traced program's threads: short, and never waiting.
 */
#include "bpf/arguments.h"
#include "bpf/aggregate.h"
#include "bpf/tally.h"
#include "bpf/tally_records.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A slot comes back zeroed from the reader. Global, as bpf/tally_records.h explains. */
__attribute__((noinline)) int make_process(__u32 lane)
{
	struct scratch *s = bpf_map_lookup_elem(&scratches, &lane);
	struct aggregate_process *process;
	__u32 slot = 0;

	if (!s || bpf_map_pop_elem(&free_slots, &slot))
		return 0;
	process = bpf_map_lookup_elem(&processes, &slot);
	if (!process)
		return 0;
	process->serial = __sync_fetch_and_add(&last_serial, 1) + 1;
	process->uid = (__u32)bpf_get_current_uid_gid();
	process->cgroup = bpf_get_current_cgroup_id();
	process->start = bpf_ktime_get_ns();
	__builtin_memcpy(process->comm, s->comm, sizeof(process->comm));
	if (!bpf_map_update_elem(&slots, &s->process_key, &slot, BPF_NOEXIST))
		return 0;
	/* Another thread of the process was faster, or the table is full. */
	bpf_map_push_elem(&free_slots, &slot, BPF_ANY);
	return 0;
}

static __always_inline void number_batch(struct aggregate_process *process, __u32 group,
					 __u64 first, __u32 count)
{
	__u32 bit = 1u << group;

	if (!(process->seen & bit)) {
		process->base[group] = first;
		__sync_fetch_and_or(&process->seen, bit);
	} else if (first < process->base[group]) {
		process->base[group] = first;
	}
	count_up(&process->received[group], count);
	raise(&process->high[group], first + count);
}

/* Global, so that the verifier takes the result for any number and not for each of 32. */
__attribute__((noinline)) int lock_lane(void)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < AGGREGATE_LANES; i++)
		if (!lanes[i].taken && !__sync_val_compare_and_swap(&lanes[i].taken, 0, 1))
			return i;
	return -1;
}

/* Steps through the batch. The shortest record has 24 bytes, so this many steps reach the end. */
static __always_inline void add_records(__u32 lane, __u32 slot, __u32 bytes, const __u32 group)
{
	__u32 offset = 0;

#pragma clang loop unroll(disable)
	for (int i = 0; i < CUDA_BATCH_MAX / 24; i++) {
		__u32 size;

		if (offset + sizeof(struct cuda_record) > bytes)
			return;
		size = add_record(lane, slot, offset, group);
		if (!size)
			return;
		offset += size;
	}
}

struct parcel {
	const void *records;
	__u64 first;
	__u64 instance;
	__u32 bytes;
	__u32 count;
	__u32 pid;
	__u32 source; /* enum event_source */
	char comm[EVENT_COMM_LEN];
};

/* Zero: no slot was left. */
static __always_inline __u32 slot_of(struct scratch *s, __u32 lane, const struct parcel *parcel)
{
	__u32 *known;

	s->process_key.instance = parcel->instance;
	s->process_key.pid = parcel->pid;
	s->process_key.source = parcel->source;
	known = bpf_map_lookup_elem(&slots, &s->process_key);
	if (!known) {
		__builtin_memcpy(s->comm, parcel->comm, sizeof(s->comm));
		make_process(lane);
		known = bpf_map_lookup_elem(&slots, &s->process_key);
	}
	return known ? *known : 0;
}

static __always_inline void sum_batch(struct scratch *s, __u32 lane, const struct parcel *parcel,
				      const __u32 group)
{
	struct aggregate_process *process;
	__u64 bytes = at_most(parcel->bytes, CUDA_BATCH_MAX);
	__u32 slot;

	if (bpf_probe_read_user(s->records, bytes, parcel->records)) {
		count_up(&counters.unreadable[group], parcel->count);
		return;
	}
	count_up(&counters.received[group], parcel->count);
	slot = slot_of(s, lane, parcel);
	process = bpf_map_lookup_elem(&processes, &slot);
	if (!process)
		return;
	if (slot)
		number_batch(process, group, parcel->first, parcel->count);
	else
		count_up(&counters.others, parcel->count);
	add_records(lane, slot, bytes, group);
}

static __always_inline void read_parcel(struct pt_regs *ctx, struct parcel *parcel)
{
	parcel->records = (const void *)argument(ctx, 0);
	parcel->bytes = argument(ctx, 1);
	parcel->count = argument(ctx, 2);
	/* A program that lies would spoil the count of what is lost. */
	if (parcel->count > CUDA_BATCH_MAX / 24)
		parcel->count = CUDA_BATCH_MAX / 24;
	parcel->first = argument(ctx, 3);
	parcel->instance = argument(ctx, 4);
}

/* Fills in who it is. False: not listened to. */
static __always_inline bool identify(struct parcel *parcel)
{
	parcel->pid = this_process();
	process_comm(parcel->comm);
	return process_is_wanted(parcel->pid, (__u32)bpf_get_current_uid_gid(), parcel->comm);
}

/* The memory of a lane that was taken. */
static __always_inline struct scratch *enter_lane(__u32 lane)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &lane);

	if (scratch) {
		/* Only after the lane was taken: the reader waits for taken lanes after its flip.
		 */
		scratch->epoch = epoch;
		scratch->shape_known = 0;
	}
	return scratch;
}

static __always_inline void leave_lane(__u32 lane, __u64 began)
{
	if (lane >= AGGREGATE_LANES)
		return;
	lanes[lane].uses++;
	lanes[lane].ns += bpf_ktime_get_ns() - began;
	__sync_lock_test_and_set(&lanes[lane].taken, 0);
}

static __always_inline int handle_batch(struct pt_regs *ctx, const __u32 group)
{
	__u64 began = bpf_ktime_get_ns();
	struct parcel parcel = {};
	struct scratch *scratch;
	__s32 taken;

	if (!identify(&parcel))
		return 0;
	read_parcel(ctx, &parcel);
	taken = lock_lane();
	if (taken < 0 || taken >= AGGREGATE_LANES) {
		count_up(&counters.busy[group], parcel.count);
		return 0;
	}
	scratch = enter_lane(taken);
	if (scratch)
		sum_batch(scratch, taken, &parcel, group);
	lanes[taken].batches++;
	leave_lane(taken, began);
	return 0;
}

/* One program a group, named as its probe: the tool loads and attaches those that are wanted. */
#define BATCH_PROGRAM(name, probe, text)                     \
	SEC("usdt")                                          \
	int probe(struct pt_regs *ctx)                       \
	{                                                    \
		keep_own_stack(ctx);                         \
		return handle_batch(ctx, CUDA_GROUP_##name); \
	}
CUDA_GROUPS(BATCH_PROGRAM)

#include "bpf/driver_sums.h"
