/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tool must answer at once, as a process waits for it. Included once by stream.bpf.c.
 */
#ifndef BPF_STARTS_H
#define BPF_STARTS_H

#include "bpf/event.h"

/* For what cannot wait until the tool has read all that lies in `events` before it. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} starts SEC(".maps");

/* NULL: nobody will answer. The tool's next look at all processes will find it. */
static __always_inline struct event_start *new_start(__u32 kind, __u32 pid)
{
	struct event_start *e = bpf_ringbuf_reserve(&starts, sizeof(*e), 0);
	struct stream_counters *counter;

	if (!e) {
		counter = this_cpu_counters();
		if (counter)
			count_up(&counter->starts_full, 1);
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->time = bpf_ktime_get_ns();
	e->kind = kind;
	e->pid = pid;
	e->cpu = bpf_get_smp_processor_id();
	return e;
}

/* False: nobody will answer. */
static __always_inline bool tell_start(__u32 kind, __u32 pid, __u32 milliseconds)
{
	struct event_start *e = new_start(kind, pid);

	if (!e)
		return false;
	e->milliseconds = milliseconds;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return true;
}

static __always_inline void tell_wanted(struct pt_regs *ctx, __u32 pid)
{
	struct event_start *e = new_start(START_CUPTI_WANTED, pid);

	if (!e)
		return;
	e->socket = (__u32)argument(ctx, 1);
	e->driver = (__u32)argument(ctx, 2);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

#endif
