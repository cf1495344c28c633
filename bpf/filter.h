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
	unsigned int flags;
} __attribute__((preserve_access_index));

#define SIGNAL_GROUP_EXIT 4 /* all of its threads are about to end */

struct pid_namespace {
	struct {
		unsigned int inum;
	} ns;
} __attribute__((preserve_access_index));

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

/* A process has a number in each namespace from the first down to its own. */
struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct mm_struct {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

struct thread_struct {
	unsigned long fsbase; /* x86 */
	struct {
		unsigned long tp_value;
	} uw; /* arm64 */
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	int tgid;
	struct pid *thread_pid;
	int exit_code;
	char comm[EVENT_COMM_LEN];
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct thread_struct thread;
} __attribute__((preserve_access_index));

/*
 * From Linux 6.13 on, a program with a frame of 64 bytes or more has one for each CPU. That of a
 * uprobe may sleep or be preempted, and whoever runs it on that CPU meanwhile writes into the same
 * frame: times and pointers in it are wrong afterwards. A program that contains a tail call keeps
 * the ordinary stack. This one is never made, and the verifier removes it. (Not on arm64, where
 * kernels before 6.0 refuse such programs.)
 */
const volatile bool makes_tail_calls;

static __always_inline void keep_own_stack(void *ctx)
{
#if defined(__TARGET_ARCH_x86)
	if (makes_tail_calls)
		bpf_tail_call(ctx, (void *)0, 0);
#endif
}

const volatile struct stream_settings settings;

/* Thread groups that are followed, when settings.by_pid. Forks add, exits remove. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u8);
} pids SEC(".maps");

/* Processes that are seen at libcuda's entry points, as they have no working agent; each with a
 * number that is never used twice. The tool adds, an end, an exec or an agent that works removes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} driver_pids SEC(".maps");

/* In a sleepable program that waits in a loop, each turn of which takes 20 ns at least. Linux that
 * does not preempt itself (PREEMPT_NONE) would leave the CPU to this thread alone, and what it
 * waits for may be queued for that CPU. Reading as if from another task looks whether somebody else
 * is to run. It does so with the lock of the memory map, which whoever is waited for may need as
 * well, to set probes or to map something: so it is done once in a millisecond only. `readable` is
 * an address of this process, `next` the time of the next reading. */
static __always_inline void let_others_run(__u64 readable, __u64 *next)
{
	__u64 word;

	if (bpf_ktime_get_ns() < *next)
		return;
	bpf_copy_from_user_task(&word, sizeof(word), (void *)readable, bpf_get_current_task_btf(),
				0);
	*next = bpf_ktime_get_ns() + 1000000;
}

/* What bpf_loop() takes at most. */
#define WAIT_TURNS	  (1 << 23)

#define DEEPEST_NAMESPACE 8

/* A task's number where the tool lives; 0 = it has none there. Takes the address of its
 * task_struct. Global: the verifier checks it by itself, and what follows a call of it once, not
 * for each way out of the loop. */
__attribute__((noinline)) int number_at_tool(__u64 address)
{
	struct task_struct *task = (void *)address;
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *at = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	for (__u32 i = 0; i < DEEPEST_NAMESPACE; i++) {
		/* Else clang 19 counts down from level, for which no verifier has a bound. */
		asm volatile("" : "+r"(level));
		if (i > level)
			break;
		if (BPF_CORE_READ(at, ns, ns.inum) == settings.pid_namespace)
			return BPF_CORE_READ(at, nr);
		at = (void *)at + bpf_core_type_size(struct upid);
	}
	return 0;
}

/* The process of a task, and the present thread and process, as the tool numbers them. */
static __always_inline __u32 process_of(struct task_struct *task)
{
	if (!settings.pid_namespace)
		return BPF_CORE_READ(task, tgid);
	return number_at_tool((__u64)BPF_CORE_READ(task, group_leader));
}

static __always_inline __u32 this_process(void)
{
	if (!settings.pid_namespace)
		return bpf_get_current_pid_tgid() >> 32;
	return process_of((void *)bpf_get_current_task());
}

static __always_inline __u32 this_thread(void)
{
	if (!settings.pid_namespace)
		return (__u32)bpf_get_current_pid_tgid();
	return number_at_tool(bpf_get_current_task());
}

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
	if (!tgid || (settings.by_pid && !bpf_map_lookup_elem(&pids, &tgid)))
		return false;
	if (settings.by_uid && uid != settings.uid)
		return false;
	if (settings.by_cgroup &&
	    bpf_get_current_ancestor_cgroup_id(settings.cgroup_level) != settings.cgroup)
		return false;
	return !settings.by_comm || comm_is_wanted(comm);
}

#endif
