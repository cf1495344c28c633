// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hands every batch, name and state of the agent to the tool through a ring buffer, in the order in
 * which they were sent. Attached per library file with pid -1, so it runs in every process that
 * maps it; bpf/filter.h says who is listened to. Losses are counted, by group and by reason.
 *
 * Data is read straight into reserved ring memory, never through a per-CPU scratch area: uprobe
 * programs can be preempted by another process that runs the same program on the same CPU.
 */
#include "libcupti-usdt/agent_memory.h"
#include "bpf/arguments.h"
#include "bpf/interpreters.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20); /* the tool sets it before the load */
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stream_counters);
} counters SEC(".maps");

/* Processes that sent something: their end is reported. The value is the address of its ledger. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

/* The reader looks every 50 ms; it is woken earlier only when this much waits for it, because a
 * wake-up costs the traced program more than the batch itself. */
#define WAKE_BYTES (512 << 10)

static __always_inline __u64 wake_flags(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >= WAKE_BYTES ? BPF_RB_FORCE_WAKEUP
									   : BPF_RB_NO_WAKEUP;
}

static __always_inline struct stream_counters *this_cpu_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

/* Preemption between load and store would lose a count, hence the atomic addition. */
static __always_inline void count_up(__u64 *counter, __u64 n)
{
	__sync_fetch_and_add(counter, n);
}

/* One event on its way: who, what, and where its data lies in the traced process. */
struct parcel {
	__u32 kind;
	__u32 group;
	__u64 instance;
	__u64 first;
	__u32 count;
	__u32 bytes;
	const void *data; /* in the process */
	__u32 pid;
	__u32 tid;
	__u32 uid;
	__u32 pad;
	char comm[EVENT_COMM_LEN];
	__u64 cgroup;
	__u64 time; /* of the driver source: the call's end */
};

/* False: this process is not listened to. */
static __always_inline bool identify(struct parcel *parcel)
{
	__u64 none = 0;

	__builtin_memset(parcel, 0, sizeof(*parcel));
	parcel->pid = this_process();
	parcel->tid = this_thread();
	parcel->uid = (__u32)bpf_get_current_uid_gid();
	parcel->cgroup = bpf_get_current_cgroup_id();
	process_comm(parcel->comm);
	if (!process_is_wanted(parcel->pid, parcel->uid, parcel->comm))
		return false;
	if (!bpf_map_lookup_elem(&seen, &parcel->pid))
		bpf_map_update_elem(&seen, &parcel->pid, &none, BPF_ANY);
	return true;
}

static __always_inline void address_at(struct event *e, const struct parcel *parcel, __u64 time)
{
	e->kind = parcel->kind;
	e->group = parcel->group;
	e->time = time;
	e->instance = parcel->instance;
	e->first = parcel->first;
	e->cgroup = parcel->cgroup;
	e->pid = parcel->pid;
	e->tid = parcel->tid;
	e->uid = parcel->uid;
	e->count = parcel->count;
	e->bytes = parcel->bytes;
	e->source = EVENT_SOURCE_AGENT;
	__builtin_memcpy(e->comm, parcel->comm, sizeof(e->comm));
}

static __always_inline void address(struct event *e, const struct parcel *parcel)
{
	address_at(e, parcel, bpf_ktime_get_ns());
}

enum { SENT = 0, RING_FULL = 1, UNREADABLE = 2 };

/* States are rare, and the first one of a process says that it is there: who wants to look at it
 * while it lives is woken at once. Linux 5.15 reserves constant sizes only: the smallest class that
 * holds the data is taken. */
#define SEND_IN_CLASS(size)                                                              \
	do {                                                                             \
		if (bytes > (size))                                                      \
			break;                                                           \
		e = bpf_ringbuf_reserve(&events, sizeof(*e) + (size), 0);                \
		if (!e)                                                                  \
			return RING_FULL;                                                \
		address(e, parcel);                                                      \
		if (bytes && bpf_probe_read_user(e->data, bytes, parcel->data)) {        \
			bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);                        \
			return UNREADABLE;                                               \
		}                                                                        \
		bpf_ringbuf_submit(e, parcel->kind == EVENT_STATUS ? BPF_RB_FORCE_WAKEUP \
								   : wake_flags());      \
		return SENT;                                                             \
	} while (0)

static __noinline int send(const struct parcel *parcel)
{
	struct event *e;
	__u64 bytes = parcel->bytes;

	SEND_IN_CLASS(128);
	SEND_IN_CLASS(512);
	SEND_IN_CLASS(1024);
	SEND_IN_CLASS(2048);
	SEND_IN_CLASS(3072);
	SEND_IN_CLASS(4096);
	SEND_IN_CLASS(5120);
	SEND_IN_CLASS(6144);
	SEND_IN_CLASS(CUDA_BATCH_MAX);
	return UNREADABLE;
}

static __always_inline void send_other(const struct parcel *parcel)
{
	struct stream_counters *counter = this_cpu_counters();
	int outcome = send(parcel);

	if (!counter || outcome == SENT)
		return;
	count_up(outcome == RING_FULL ? &counter->ring_full_other : &counter->unreadable_other, 1);
}

static __always_inline int send_batch(struct pt_regs *ctx, __u32 group)
{
	struct stream_counters *counter;
	struct parcel parcel;
	int outcome;

	if (!identify(&parcel))
		return 0;
	parcel.kind = EVENT_BATCH;
	parcel.group = group;
	parcel.data = (const void *)argument(ctx, 0);
	parcel.bytes = (__u32)argument(ctx, 1);
	parcel.count = (__u32)argument(ctx, 2);
	parcel.first = (__u64)argument(ctx, 3);
	parcel.instance = (__u64)argument(ctx, 4);
	outcome = send(&parcel);
	counter = this_cpu_counters();
	if (!counter)
		return 0;
	if (outcome == SENT)
		count_up(&counter->received[group], parcel.count);
	else if (outcome == RING_FULL)
		count_up(&counter->ring_full[group], parcel.count);
	else
		count_up(&counter->unreadable[group], parcel.count);
	return 0;
}

/* One program a group, named as its probe: the tool loads and attaches those that are wanted. */
#define BATCH_PROGRAM(name, probe, text)                   \
	SEC("usdt")                                        \
	int probe(struct pt_regs *ctx)                     \
	{                                                  \
		keep_own_stack(ctx);                       \
		return send_batch(ctx, CUDA_GROUP_##name); \
	}
CUDA_GROUPS(BATCH_PROGRAM)

/* A string of the process, cut at CUDA_NAME_MAX - 1. Read by its length and not up to its NUL:
 * bpf_probe_read_user_str() would put the variable length into no size class. */
SEC("usdt")
int name(struct pt_regs *ctx)
{
	struct parcel parcel;

	keep_own_stack(ctx);
	if (!identify(&parcel))
		return 0;
	parcel.kind = EVENT_NAME;
	parcel.instance = (__u64)argument(ctx, 0);
	parcel.group = (__u32)argument(ctx, 1);
	parcel.data = (const void *)argument(ctx, 2);
	parcel.count = (__u32)argument(ctx, 3);
	parcel.bytes = parcel.count < CUDA_NAME_MAX ? parcel.count : CUDA_NAME_MAX - 1;
	send_other(&parcel);
	return 0;
}

#include "bpf/starts.h"
#include "bpf/library_loads.h"

/* libcuda was mapped before the agent, and the driver source was attached in between: from here on
 * the agent reports this process's calls, and nothing may be counted twice. */
static __always_inline void drop_driver_source(const struct parcel *parcel)
{
	const struct cuda_status *status = parcel->data;
	__u32 state = CUDA_STATE_INERT;

	bpf_probe_read_user(&state, sizeof(state), &status->state);
	if (state != CUDA_STATE_DORMANT && state != CUDA_STATE_ACTIVE)
		return;
	bpf_map_delete_elem(&driver_pids, &parcel->pid);
	note_agent(parcel->pid);
}

static __always_inline void note_ledger(const struct parcel *parcel)
{
	const struct cuda_status *status = parcel->data;
	__u64 ledger = 0;

	if (parcel->bytes < sizeof(*status) ||
	    bpf_probe_read_user(&ledger, sizeof(ledger), &status->ledger))
		return;
	bpf_map_update_elem(&seen, &parcel->pid, &ledger, BPF_ANY);
}

/* Here, not in the tool, which reads the status later than the process may first wait for its GIL.
 */
static __always_inline void note_interpreter(const struct parcel *parcel)
{
	const struct cuda_status *status = parcel->data;
	__u64 interpreter = 0;

	if (parcel->bytes >= sizeof(*status) &&
	    !bpf_probe_read_user(&interpreter, sizeof(interpreter), &status->interpreter) &&
	    interpreter)
		bpf_map_update_elem(&interpreters, &parcel->pid, &interpreter, BPF_ANY);
}

SEC("usdt")
int status(struct pt_regs *ctx)
{
	struct parcel parcel;

	keep_own_stack(ctx);
	if (!identify(&parcel))
		return 0;
	parcel.kind = EVENT_STATUS;
	parcel.data = (const void *)argument(ctx, 0);
	drop_driver_source(&parcel);
	parcel.bytes = (__u32)argument(ctx, 1);
	note_ledger(&parcel);
	note_interpreter(&parcel);
	if (parcel.bytes > CUDA_BATCH_MAX)
		parcel.bytes = CUDA_BATCH_MAX;
	send_other(&parcel);
	return 0;
}

SEC("usdt")
int lost(struct pt_regs *ctx)
{
	struct parcel parcel;

	keep_own_stack(ctx);
	if (!identify(&parcel))
		return 0;
	parcel.kind = EVENT_LOST;
	parcel.group = (__u32)argument(ctx, 0);
	parcel.count = (__u32)argument(ctx, 1);
	parcel.first = (__u64)argument(ctx, 2);
	parcel.instance = (__u64)argument(ctx, 3);
	send_other(&parcel);
	return 0;
}

SEC("usdt")
int error(struct pt_regs *ctx)
{
	struct stream_counters *counter = this_cpu_counters();
	struct parcel parcel;
	struct event *e;
	long length;

	keep_own_stack(ctx);
	if (!identify(&parcel) || !counter)
		return 0;
	parcel.kind = EVENT_ERROR;
	parcel.group = (__u32)argument(ctx, 0);
	parcel.instance = (__u64)argument(ctx, 3);
	parcel.bytes = ERROR_COMPONENT_LEN + ERROR_MESSAGE_LEN;
	e = bpf_ringbuf_reserve(&events, sizeof(*e) + ERROR_COMPONENT_LEN + ERROR_MESSAGE_LEN, 0);
	if (!e) {
		count_up(&counter->ring_full_other, 1);
		return 0;
	}
	address(e, &parcel);
	/* Fixed places, so that an unreadable string hurts nobody but itself. */
	length = bpf_probe_read_user_str(e->data, ERROR_COMPONENT_LEN,
					 (const void *)argument(ctx, 1));
	if (length <= 0)
		e->data[0] = 0;
	length = bpf_probe_read_user_str(e->data + ERROR_COMPONENT_LEN, ERROR_MESSAGE_LEN,
					 (const void *)argument(ctx, 2));
	if (length <= 0)
		e->data[ERROR_COMPONENT_LEN] = 0;
	bpf_ringbuf_submit(e, wake_flags());
	return 0;
}

/* Attached only to raise the semaphore of one of the hello probes. */
SEC("usdt")
int hello(struct pt_regs *ctx)
{
	return 0;
}

/* In every process that loads the agent: who is not listened to goes on at once. Also where it
 * wants a libcupti. */
SEC("usdt")
int start(struct pt_regs *ctx)
{
	__u32 milliseconds = (__u32)argument(ctx, 1);
	struct parcel parcel = {};

	keep_own_stack(ctx);
	parcel.pid = this_process();
	parcel.uid = (__u32)bpf_get_current_uid_gid();
	process_comm(parcel.comm);
	if (!process_is_wanted(parcel.pid, parcel.uid, parcel.comm))
		return 0;
	if (probe_value(ctx) == PROBE_CUPTI_WANTED)
		tell_wanted(ctx, parcel.pid);
	else
		tell_start(START_AGENT, parcel.pid, milliseconds);
	return 0;
}

/* The tool's own probe in its own file: proves that uprobes fire and the ring buffer delivers. */
SEC("usdt")
int selftest(struct pt_regs *ctx)
{
	struct parcel parcel = {};

	keep_own_stack(ctx);
	if ((__u32)argument(ctx, 0) != settings.self)
		return 0;
	parcel.kind = EVENT_SELFTEST;
	parcel.pid = this_process();
	parcel.cgroup = bpf_get_current_cgroup_id();
	send_other(&parcel);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int process_forks(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0];
	struct task_struct *child = (void *)ctx->args[1];
	struct stream_counters *counter = this_cpu_counters();
	__u32 from = process_of(parent);
	__u32 to = process_of(child);
	__u8 one = 1;

	if (from == to)
		return 0;
	inherit_load(from, to);
	if (!bpf_map_lookup_elem(&pids, &from))
		return 0;
	if (bpf_map_update_elem(&pids, &to, &one, BPF_ANY) && counter)
		count_up(&counter->unfollowed, 1);
	return 0;
}

__u64 unsent_of_ring(__u64 ring, __u64 taken_at);

/* Not static: the verifier then looks at it once, and not for each turn of the loop, which is too
 * much for Linux 6.1. */
__noinline __u64 unsent_of_ring(__u64 ring, __u64 taken_at)
{
	__u32 head = 0, taken[2] = {};

	if (bpf_probe_read_user(&head, sizeof(head), (const void *)ring) ||
	    bpf_probe_read_user(taken, sizeof(taken), (const void *)(ring + taken_at)))
		return 0;
	return (__s32)(head - taken[0] - taken[1]) > 0 ? head - taken[0] - taken[1] : 0;
}

/* Records that a process had not sent as it ended. Its memory is still there at the tracepoint
 * since Linux 6.16; before, as after an exec, nobody knows. */
static __noinline __u64 count_unsent(const struct cuda_ledger *address)
{
	struct cuda_ledger ledger;
	__u64 sum = 0;

	if (!address)
		return 0;
	if (bpf_probe_read_user(&ledger, sizeof(ledger), address))
		return EVENT_UNSENT_UNKNOWN;
	for (__u32 i = 0; i < CUDA_LEDGER_RINGS && i < ledger.count; i++)
		sum += unsent_of_ring((__u64)ledger.rings + (__u64)i * ledger.bytes, ledger.taken);
	return sum;
}

/* The agent's load ends with an exec as with an exit; what it had not sent is gone. */
static __always_inline void tell_end(__u32 pid, __u32 how, __u32 code)
{
	struct parcel parcel = {};
	const __u64 *ledger = bpf_map_lookup_elem(&seen, &pid);

	bpf_map_delete_elem(&interpreters, &pid);
	if (!ledger)
		return;
	parcel.first =
		how == EVENT_EXIT_END ? count_unsent((const void *)*ledger) : EVENT_UNSENT_UNKNOWN;
	if (bpf_map_delete_elem(&seen, &pid))
		return;
	parcel.kind = EVENT_EXIT;
	parcel.group = how;
	parcel.count = code;
	parcel.pid = pid;
	parcel.tid = pid;
	parcel.cgroup = bpf_get_current_cgroup_id();
	send_other(&parcel);
}

SEC("raw_tp/sched_process_exec")
int process_execs(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = this_process();

	/* Another thread than the first has become it. */
	if (settings.by_link && (__u32)ctx->args[1] != BPF_CORE_READ(task, pid))
		bpf_map_delete_elem(&linked, &pid);
	bpf_map_delete_elem(&driver_pids, &pid);
	bpf_map_delete_elem(&loads, &pid);
	if (loads_are_watched && bpf_map_lookup_elem(&pids, &pid))
		tell_start(START_EXEC, pid, 0);
	tell_end(pid, EVENT_EXIT_EXEC, 0);
	return 0;
}

static __always_inline bool is_first_thread(struct task_struct *task)
{
	return BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid);
}

/* A link by process is one by the memory of its first thread, which that one has left. */
static __always_inline void tell_of_first(struct task_struct *task, __u32 pid)
{
	if (!settings.by_link || !is_first_thread(task) ||
	    BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT ||
	    !bpf_map_lookup_elem(&linked, &pid))
		return;
	tell_start(START_WITHOUT_FIRST, pid, 0);
}

SEC("raw_tp/sched_process_exit")
int process_exits(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = process_of(task);

	/* The tool ends, maybe by SIGKILL: it answers nobody any more. Its links, which would end
	 * the wait, are closed later, and not while a thread waits. */
	if (pid == settings.self && is_first_thread(task))
		load_waiters_max = 0;
	/* Threads end one by one; nothing runs in user space any more once none is alive. */
	if (BPF_CORE_READ(task, signal, live.counter)) {
		tell_of_first(task, pid);
		return 0;
	}
	bpf_map_delete_elem(&pids, &pid);
	bpf_map_delete_elem(&linked, &pid);
	bpf_map_delete_elem(&driver_pids, &pid);
	bpf_map_delete_elem(&loads, &pid);
	tell_end(pid, EVENT_EXIT_END, BPF_CORE_READ(task, exit_code));
	return 0;
}

#include "bpf/driver_events.h"
#include "bpf/nccl.h"

#include "bpf/stacks.h"
