/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies a launching thread's registers and the used part of its stack, for the tool to unwind.
 * Included once, by stacks.h. The thread stands still in the probe.
 */
#ifndef BPF_STACK_COPY_H
#define BPF_STACK_COPY_H

#include "bpf/return_probes.h"

#if defined(__TARGET_ARCH_x86)

/* Where the end of the stack is unknown: fibers, sigaltstack(). */
#define STACK_COPY_GUESS 16384
#define STACK_COPY_LEAST 256

/* False: the tool walks by frame pointers alone. */
const volatile bool stacks_are_copied;

/* Where stacks end; 0 = unknown. The C library puts a thread's control block there, which the
 * segment base points to; that of the first thread lies elsewhere. */
struct stack_ends {
	__u64 control_block, first_thread;
};

static __always_inline void find_stack_ends(struct stack_ends *ends)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	ends->control_block = BPF_CORE_READ(task, thread.fsbase);
	ends->first_thread = BPF_CORE_READ(task, mm, start_stack);
}

static __always_inline __u64 used_bytes(const struct stack_ends *ends, __u64 from)
{
	__u64 bytes = ends->first_thread - from, other = ends->control_block - from;

	/* What lies below `from` is far above it by this subtraction. */
	bytes = other < bytes ? other : bytes;
	if (bytes > STACK_COPY_FARTHEST)
		return STACK_COPY_GUESS;
	return bytes < STACK_COPY_MAX ? bytes : STACK_COPY_MAX;
}

/* The first bytes of it that can be read; 0 = none. */
static __always_inline __u64 read_stack(void *to, __u64 bytes, __u64 from, const __u64 size)
{
	for (int i = 0; i < 11 && bytes >= STACK_COPY_LEAST; i++) {
		bytes = at_most(bytes, size);
		if (!bpf_probe_read_user(to, bytes, (const void *)from))
			return bytes;
		bytes /= 2;
	}
	return 0;
}

/* How many bytes were read is read back: the verifier need not know at which try. */
#define SEND_COPY_IN_CLASS(size)                                                          \
	do {                                                                              \
		if (bytes > (size))                                                       \
			break;                                                            \
		e = bpf_ringbuf_reserve(&events, sizeof(*e) + sizeof(*copy) + (size), 0); \
		if (!e)                                                                   \
			return;                                                           \
		copy = (void *)e->data;                                                   \
		copy->bytes = read_stack(copy->stack, bytes, from, (size));               \
		bytes = at_most(*(volatile __u32 *)&copy->bytes, (size));                 \
		restore_returns(saved_returns(), copy->stack, bytes, from, (size));       \
		goto send;                                                                \
	} while (0)

/* The stack's own event comes right behind it; without a copy, that is all there is. */
static __noinline void send_stack_copy(struct pt_regs *ctx, const struct parcel *parcel,
				       const struct stack_ends *ends,
				       const struct cuda_graph_call *call)
{
	struct event_stack_copy *copy;
	__u64 from = PT_REGS_SP(ctx), bytes;
	struct event *e;

	/* Half of the ring is for records. */
	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(&events, BPF_RB_RING_SIZE) / 2)
		return;
	bytes = used_bytes(ends, from);
	SEND_COPY_IN_CLASS(2048);
	SEND_COPY_IN_CLASS(4096);
	SEND_COPY_IN_CLASS(8192);
	SEND_COPY_IN_CLASS(16384);
	SEND_COPY_IN_CLASS(32768);
	SEND_COPY_IN_CLASS(65536);
	SEND_COPY_IN_CLASS(131072);
	SEND_COPY_IN_CLASS(STACK_COPY_MAX);
	return;
send:
	if (!bytes) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return;
	}
	address_at(e, parcel, parcel->time);
	e->kind = EVENT_STACK_COPY;
	e->bytes = sizeof(*copy) + bytes;
	copy->correlation = parcel->group;
	copy->tid = (__u32)argument(ctx, 1);
	copy->address = PT_REGS_IP(ctx);
	copy->stack_pointer = from;
	copy->saved[0] = REGISTER(ctx, rbx);
	copy->saved[1] = REGISTER(ctx, rbp);
	copy->saved[2] = REGISTER(ctx, r12);
	copy->saved[3] = REGISTER(ctx, r13);
	copy->saved[4] = REGISTER(ctx, r14);
	copy->saved[5] = REGISTER(ctx, r15);
	copy->is_of_graph = call->start != 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

#endif

#endif
