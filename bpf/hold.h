/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps threads outside of the driver for a moment before each launch, in processes whose guest
 * subscribes to CUPTI for its first time: see cuda-trace/capture/launch_hold.c. The bound is kept
 * here as well, should the tool be stopped meanwhile. Included once by stream.bpf.c.
 */
#ifndef BPF_HOLD_H
#define BPF_HOLD_H

#include "bpf/filter.h"

/* Processes that are held, and since when. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u64);
} held SEC(".maps");

/* The more threads there are, the more time each has to be outside for all to be so at once: the
 * longer it takes, the longer they are held. */
#define HOLD_NS	     10000
#define HOLD_MOST_NS 100000
#define HOLD_GROWTH  1000  /* each µs makes it a ns longer */
#define HOLD_TURNS   10000 /* 10 ns at least each */

/* A helper's callback (Linux 5.17; without uprobe_multi links, of 6.6, none of this is loaded): a
 * loop of so many turns takes the verifier 8 ms, in every tool. */
static long wait_until(__u32 turn, __u64 *until)
{
	return bpf_ktime_get_ns() >= *until;
}

SEC("uprobe")
int hold_launch(struct pt_regs *ctx)
{
	__u32 pid = this_process();
	__u64 *since = bpf_map_lookup_elem(&held, &pid);
	__u64 now, age, until;

	if (!since)
		return 0;
	now = bpf_ktime_get_ns();
	age = now - *since;
	if (age > HOLD_LONGEST_NS)
		return 0;
	age = HOLD_NS + age / HOLD_GROWTH;
	until = now + (age < HOLD_MOST_NS ? age : HOLD_MOST_NS);
	bpf_loop(HOLD_TURNS, wait_until, &until, 0);
	return 0;
}

#endif
