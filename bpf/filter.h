/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes an eBPF program listens to: process tree, comm, user, cgroup. Included once by
 * each .bpf.c; the tool fills `settings` before the load and the map `pids` before it attaches.
 * Everything runs in the context of the traced process.
 */
#ifndef BPF_FILTER_H
#define BPF_FILTER_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bpf/event.h"

/* The few kernel fields that are read; their offsets come from the running kernel's BTF. */
struct signal_struct {
	struct {
		int counter;
	} live;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	int tgid;
	int exit_code;
	char comm[EVENT_COMM_LEN];
	struct task_struct *group_leader;
	struct signal_struct *signal;
} __attribute__((preserve_access_index));

const volatile struct stream_settings settings;

/* Thread groups that are followed, when settings.by_pid. Forks add, exits remove. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u8);
} pids SEC(".maps");

/* Processes that are seen at libcuda's entry points, for want of a working guest; each with a
 * number that is never used twice. The tool adds, an end, an exec or a guest that works removes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} driver_pids SEC(".maps");

/* The main thread's: a thread may have a name of its own ("python" is what the user knows). */
static __always_inline void process_comm(char comm[EVENT_COMM_LEN])
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	bpf_core_read(comm, EVENT_COMM_LEN, &leader->comm);
}

static __always_inline bool comm_is_wanted(const char comm[EVENT_COMM_LEN])
{
	for (int i = 0; i < EVENT_COMM_LEN; i++) {
		if (comm[i] != settings.comm[i])
			return false;
		if (!comm[i])
			return true;
	}
	return true;
}

static __always_inline bool process_is_wanted(__u32 tgid, __u32 uid,
					      const char comm[EVENT_COMM_LEN])
{
	if (settings.by_pid && !bpf_map_lookup_elem(&pids, &tgid))
		return false;
	if (settings.by_uid && uid != settings.uid)
		return false;
	if (settings.by_cgroup &&
	    bpf_get_current_ancestor_cgroup_id(settings.cgroup_level) != settings.cgroup)
		return false;
	return !settings.by_comm || comm_is_wanted(comm);
}

#endif
