// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Why the threads of watched processes were not running: the scheduler's switches and wake-ups, and
 * samples of what ran. These tracepoints fire for every task of the machine, so whatever is not
 * watched must be over after a bit was tested. The end of a wait is reported, not its events; short
 * waits of one kind in a row are one record.
 */
#include "bpf/filter.h"
#include "bpf/idle.h"
#include "bpf/idle_python.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PF_EXITING    0x00000004
#define PF_KTHREAD    0x00200000
#define STACK_NS      2000000 /* a thread's stack is taken at most so often */
#define JOIN_NS	      50000   /* waits that are no farther apart are one, */
#define JOINED_MAX_NS 1000000 /* up to this length */

struct qstr___idle {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry___idle {
	struct qstr___idle d_name;
} __attribute__((preserve_access_index));

struct path___idle {
	struct dentry___idle *dentry;
} __attribute__((preserve_access_index));

struct inode___idle {
	unsigned short i_mode;
} __attribute__((preserve_access_index));

struct file___idle {
	struct path___idle f_path;
	struct inode___idle *f_inode;
} __attribute__((preserve_access_index));

struct fdtable___idle {
	unsigned int max_fds;
	struct file___idle **fd;
} __attribute__((preserve_access_index));

struct files_struct___idle {
	struct fdtable___idle *fdt;
} __attribute__((preserve_access_index));

struct sched_entity___idle {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct___idle {
	struct sched_entity___idle se;
	unsigned int __state;
	unsigned int flags;
	unsigned int in_iowait : 1;
	struct files_struct___idle *files;
} __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_arm64)
struct pt_regs___idle {
	__u64 regs[31];
	__s32 syscallno;
} __attribute__((preserve_access_index));
#define SYSCALL_NUMBER(regs) BPF_CORE_READ(regs, syscallno)
#define SYSCALL_FIRST(regs)  BPF_CORE_READ(regs, regs[0])
#else
struct pt_regs___idle {
	unsigned long di;
	unsigned long orig_ax;
} __attribute__((preserve_access_index));
#define SYSCALL_NUMBER(regs) ((__s32)BPF_CORE_READ(regs, orig_ax))
#define SYSCALL_FIRST(regs)  BPF_CORE_READ(regs, di)
#endif

/* Set before load. */
const volatile __s32 futex_call = -1;

/* System calls whose first argument is a file. Set before load. */
const volatile __u8 first_is_file[IDLE_SYSCALLS];

/* A bit for each process number, modulo: not set = not watched. Never cleared. */
__u64 may_be_watched[IDLE_BITS / 64];

/* Processes, by their number in the first pid namespace; the value is the tool's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u32);
} watched SEC(".maps");

/* By thread number in the first pid namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct idle_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, IDLE_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct idle_counters);
} idle_counters SEC(".maps");

/* Too large for the stack of a program. */
static const struct idle_thread no_thread;

static __always_inline struct idle_counters *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&idle_counters, &zero);
}

static __always_inline const __u32 *find_watched(__u32 tgid)
{
	if (!(may_be_watched[tgid / 64 % (IDLE_BITS / 64)] >> (tgid & 63) & 1))
		return NULL;
	return bpf_map_lookup_elem(&watched, &tgid);
}

static __always_inline void watch(struct task_struct *task, __u32 tgid, __u32 pid)
{
	if (bpf_map_update_elem(&watched, &tgid, &pid, BPF_ANY)) {
		struct idle_counters *counters = this_cpu();

		if (counters)
			counters->unfollowed++;
		return;
	}
	__sync_fetch_and_or(&may_be_watched[tgid / 64 % (IDLE_BITS / 64)], 1ull << (tgid & 63));
}

static __always_inline __u32 own_number(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *at = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	if (!pid || level > DEEPEST_NAMESPACE)
		return 0;
	at = (void *)at + level * bpf_core_type_size(struct upid);
	return BPF_CORE_READ(at, nr);
}

static __always_inline void name_task(struct idle_task *out, struct task_struct *task)
{
	struct task_struct___idle *flags = (void *)task;

	out->pid = 0;
	out->tid = 0;
	bpf_core_read(out->comm, sizeof(out->comm), &task->comm);
	if (BPF_CORE_READ(flags, flags) & PF_KTHREAD)
		return;
	out->pid = process_of(task);
	out->tid = own_number(task);
}

static __always_inline void submit(const struct idle_wait *wait)
{
	struct idle_counters *counters = this_cpu();
	struct idle_wait *record = bpf_ringbuf_reserve(&waits, sizeof(*record), 0);

	if (counters) {
		if (record)
			counters->reported++;
		else
			counters->ring_full++;
	}
	if (!record)
		return;
	__builtin_memcpy(record, wait, sizeof(*record));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline void read_file(struct idle_wait *wait, struct task_struct *task,
				      struct pt_regs___idle *regs)
{
	struct task_struct___idle *of = (void *)task;
	struct fdtable___idle *table;
	struct file___idle **files, *file = NULL;
	const unsigned char *name;
	__u64 number;

	if (wait->syscall < 0 || wait->syscall >= IDLE_SYSCALLS ||
	    !first_is_file[wait->syscall & (IDLE_SYSCALLS - 1)])
		return;
	number = SYSCALL_FIRST(regs);
	table = BPF_CORE_READ(of, files, fdt);
	if (number >= BPF_CORE_READ(table, max_fds))
		return;
	files = BPF_CORE_READ(table, fd);
	bpf_core_read(&file, sizeof(file), files + number);
	if (!file)
		return;
	wait->file = number;
	wait->mode = BPF_CORE_READ(file, f_inode, i_mode);
	name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	bpf_probe_read_kernel_str(wait->name, sizeof(wait->name), name);
}

static __always_inline struct idle_thread *thread_of(struct task_struct *task, bool add)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	struct idle_thread *thread = bpf_map_lookup_elem(&threads, &tid);
	struct idle_counters *counters;

	if (thread || !add)
		return thread;
	bpf_map_update_elem(&threads, &tid, &no_thread, BPF_NOEXIST);
	thread = bpf_map_lookup_elem(&threads, &tid);
	counters = this_cpu();
	if (!thread && counters)
		counters->threads_full++;
	return thread;
}

static __always_inline bool is_same(const struct idle_wait *a, const struct idle_wait *b)
{
	return a->state == b->state && a->syscall == b->syscall && a->file == b->file &&
	       a->other.tid == b->other.tid && b->start - a->end < JOIN_NS &&
	       b->end - a->start < JOINED_MAX_NS && a->count < 60000;
}

/* before: who had the CPU; NULL = not known */
static __always_inline void end_wait(struct idle_thread *thread, struct task_struct *before,
				     __u64 end)
{
	struct idle_wait *wait = &thread->now, *open = &thread->open;

	wait->end = end;
	wait->off_ns = end - wait->start;
	if (wait->state == IDLE_RUNNABLE)
		wait->delay_ns = wait->off_ns;
	else if (thread->woken >= wait->start && thread->woken <= end)
		wait->delay_ns = end - thread->woken;
	/* Not the idle task: that is the time which the CPU takes to wake up. */
	if (before && BPF_CORE_READ(before, pid) && wait->state != IDLE_RUNNABLE &&
	    wait->delay_ns >= JOIN_NS)
		name_task(&wait->rival, before);
	if (open->kind && is_same(open, wait)) {
		open->end = wait->end;
		open->off_ns += wait->off_ns;
		open->delay_ns += wait->delay_ns;
		open->count++;
	} else {
		if (open->kind)
			submit(open);
		__builtin_memcpy(open, wait, sizeof(*open));
	}
	wait->kind = 0;
}

/*
 * A task leaves the CPU, and nobody reported that it had got it: 6.18 was seen to leave out up
 * to 10 of 600 switches to a task. How long it has run says when that was.
 */
static __always_inline void repair(struct idle_thread *thread, __u64 ran, __u64 now)
{
	struct idle_counters *counters = this_cpu();
	__u64 first = thread->woken > thread->now.start ? thread->woken : thread->now.start;
	__u64 end = now - (ran - thread->ran);

	if (end < first || end > now)
		end = first;
	if (counters)
		counters->repaired++;
	end_wait(thread, NULL, end);
}

/* It gets the CPU again, after `before`. */
static __always_inline void enter(struct task_struct *task, struct task_struct *before)
{
	struct idle_thread *thread = thread_of(task, false);

	if (thread && thread->now.kind)
		end_wait(thread, before, bpf_ktime_get_ns());
}

/* The present task leaves the CPU. */
static __always_inline void leave(void *ctx, struct task_struct *task, struct task_struct *next,
				  bool preempted, __u32 pid)
{
	struct task_struct___idle *state = (void *)task;
	struct idle_counters *counters = this_cpu();
	struct idle_thread *thread;
	struct pt_regs___idle *regs;
	struct python_work *python = NULL;
	struct idle_wait *wait;
	__u64 now = bpf_ktime_get_ns(), ran;

	/* It was reported as ended, or soon will be. */
	if (BPF_CORE_READ(state, flags) & PF_EXITING)
		return;
	thread = thread_of(task, true);
	if (!thread)
		return;
	if (counters)
		counters->waits++;
	ran = BPF_CORE_READ(state, se.sum_exec_runtime);
	if (thread->now.kind)
		repair(thread, ran, now);
	thread->ran = ran;
	wait = &thread->now;
	__builtin_memset(wait, 0, sizeof(*wait));
	wait->pid = pid;
	wait->tid = own_number(task);
	wait->start = now;
	wait->syscall = -1;
	wait->file = -1;
	wait->stack = -1;
	wait->count = 1;
	thread->woken = 0;
	if (preempted || !BPF_CORE_READ(state, __state)) {
		wait->state = IDLE_RUNNABLE;
		name_task(&wait->other, next);
	} else {
		wait->state =
			BPF_CORE_READ_BITFIELD_PROBED(state, in_iowait) ? IDLE_DISK : IDLE_BLOCKED;
		regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
		wait->syscall = SYSCALL_NUMBER(regs);
		read_file(wait, task, regs);
		if (wait->syscall == futex_call || now >= thread->next_stack)
			python = find_python(pid);
		if (python && wait->syscall == futex_call && is_gil(python, SYSCALL_FIRST(regs)))
			wait->state = IDLE_GIL;
		if (now >= thread->next_stack) {
			wait->stack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
			thread->next_stack = now + STACK_NS;
			if (python)
				find_frame(python, pid, wait->tid, &wait->frame);
		}
	}
	wait->kind = IDLE_WAIT;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(idle_switch, bool preempted, struct task_struct *from, struct task_struct *to)
{
	const __u32 *pid = find_watched(from->tgid);

	if (pid)
		leave(ctx, from, to, preempted, *pid);
	if (find_watched(to->tgid))
		enter(to, from);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(idle_waking, struct task_struct *task)
{
	struct idle_thread *thread;

	if (!find_watched(task->tgid))
		return 0;
	thread = thread_of(task, false);
	if (!thread || !thread->now.kind || thread->now.state == IDLE_RUNNABLE || thread->woken)
		return 0;
	thread->woken = bpf_ktime_get_ns();
	name_task(&thread->now.other, (void *)bpf_get_current_task());
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(idle_fork, struct task_struct *parent, struct task_struct *child)
{
	const __u32 *pid;
	const __u64 *interpreter;
	__u32 number;

	if (parent->tgid == child->tgid)
		return 0;
	pid = find_watched(parent->tgid);
	if (!pid)
		return 0;
	number = process_of(child);
	watch(child, child->tgid, number);
	/* All is where it was in the parent, until an exec. */
	interpreter = bpf_map_lookup_elem(&interpreters, pid);
	if (interpreter) {
		__u64 at = *interpreter;

		bpf_map_update_elem(&interpreters, &number, &at, BPF_ANY);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(idle_exit, struct task_struct *task)
{
	struct idle_thread *thread;
	__u32 tid = task->pid, tgid = task->tgid;

	if (!find_watched(tgid))
		return 0;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (thread && thread->open.kind)
		submit(&thread->open);
	bpf_map_delete_elem(&threads, &tid);
	if (!BPF_CORE_READ(task, signal, live.counter))
		bpf_map_delete_elem(&watched, &tgid);
	return 0;
}

struct bpf_iter_meta;

struct bpf_iter__task {
	union {
		struct bpf_iter_meta *meta;
		__u64 pad1;
	};
	union {
		struct task_struct *task;
		__u64 pad2;
	};
};

/* Watches the processes that are in the map `pids` now: only here are their other numbers known. */
SEC("iter/task")
int idle_find(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 pid, tgid;

	if (!task)
		return 0;
	tgid = BPF_CORE_READ(task, tgid);
	if (BPF_CORE_READ(task, pid) != tgid)
		return 0;
	pid = process_of(task);
	if (pid && bpf_map_lookup_elem(&pids, &pid) && !bpf_map_lookup_elem(&watched, &tgid))
		watch(task, tgid, pid);
	return 0;
}

SEC("perf_event")
int idle_sample(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	const __u32 *pid = find_watched(bpf_get_current_pid_tgid() >> 32);
	struct idle_sample sample = {.kind = IDLE_SAMPLE};
	struct idle_counters *counters;
	struct python_work *python;

	if (!pid)
		return 0;
	sample.pid = *pid;
	sample.tid = own_number(task);
	sample.time = bpf_ktime_get_ns();
	sample.stack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
	python = find_python(sample.pid);
	if (python)
		find_frame(python, sample.pid, sample.tid, &sample.frame);
	counters = this_cpu();
	if (bpf_ringbuf_output(&waits, &sample, sizeof(sample), BPF_RB_NO_WAKEUP) && counters)
		counters->ring_full++;
	return 0;
}
