// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The gate: lets another client of a process into CUPTI only when our agent has left it. See
 * docs/internals/yield.md for what can go wrong. Sleepable: while a call waits, other threads get
 * the CPU (on one CPU the agent could not leave otherwise).
 */
#include "bpf/filter.h"
#include "bpf/yield.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct yield_client);
} clients SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct yield_claim);
} claims SEC(".maps");

/* Processes whose agent sees that it must yield. Only the tool writes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} requested SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} yield_events SEC(".maps");

/* Clients that wait, for a thread of the tool that does nothing else. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} yield_calls SEC(".maps");

/* Clients or agents that a full map could not take: nothing held them. */
__u64 unseen;

static __always_inline void send(__u32 kind, __u32 pid, __u64 function)
{
	struct yield_event *e = bpf_ringbuf_reserve(&yield_events, sizeof(*e), 0);

	/* The tool looks at the maps from time to time, too. */
	if (!e)
		return;
	e->time = bpf_ktime_get_ns();
	e->kind = kind;
	e->pid = pid;
	e->function = function;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

static __always_inline void send_waits(__u32 pid)
{
	struct yield_waits *waits = bpf_ringbuf_reserve(&yield_calls, sizeof(*waits), 0);

	if (waits) {
		waits->time = bpf_ktime_get_ns();
		waits->pid = pid;
		waits->pad = 0;
		bpf_ringbuf_submit(waits, BPF_RB_FORCE_WAKEUP);
	}
	send(YIELD_EVENT_CLIENT, pid, 0);
}

static __always_inline bool is_there(const struct yield_client *client, __u64 now)
{
	if (client->subscribed || client->kinds || now - client->last < YIELD_QUIET_NS)
		return true;
	return client->calls && now - client->last < YIELD_CALL_NS;
}

/* What a call waits for. */
struct wait {
	__u64 until;
	__u64 stack; /* an address of the process that can be read */
	__u64 next_reading;
	__u32 pid;
	__u32 for_tool; /* else for the agent */
	__u32 over;
};

static __always_inline bool is_over(const struct wait *wait)
{
	struct yield_claim *claim;

	if (bpf_ktime_get_ns() >= wait->until)
		return true;
	if (wait->for_tool)
		return bpf_map_lookup_elem(&requested, &wait->pid);
	claim = bpf_map_lookup_elem(&claims, &wait->pid);
	return !claim || !claim->held;
}

static long wait_turn(__u32 turn, struct wait *wait)
{
	wait->over = is_over(wait);
	if (!wait->over)
		let_others_run(wait->stack, &wait->next_reading);
	return wait->over;
}

static long wait_round(__u32 round, struct wait *wait)
{
	bpf_loop(WAIT_TURNS, wait_turn, wait, 0);
	return wait->over != 0;
}

static __always_inline void wait_for(struct wait *wait)
{
	bpf_loop(5, wait_round, wait, 0); /* more than YIELD_HELD_NS */
}

/* The agent: returns when its thread will see that it must not subscribe, if so. */
static __always_inline int claim_cupti(struct pt_regs *ctx, __u32 pid, bool hinted)
{
	struct yield_claim claim = {
		.since = bpf_ktime_get_ns(),
		.function = PT_REGS_PARM2(ctx),
		.code = PT_REGS_PARM3(ctx),
		.code_end = PT_REGS_PARM4(ctx),
		.hint = hinted ? PT_REGS_PARM5(ctx) : 0,
		.tid = this_thread(),
		.held = 1,
	};
	struct wait wait = {.pid = pid, .for_tool = 1, .stack = PT_REGS_SP(ctx)};
	struct yield_client *client;

	if (bpf_map_update_elem(&claims, &pid, &claim, BPF_ANY)) {
		__sync_fetch_and_add(&unseen, 1);
		return 0;
	}
	send(YIELD_EVENT_CLAIM, pid, claim.function);
	client = bpf_map_lookup_elem(&clients, &pid);
	if (!client || !is_there(client, claim.since))
		return 0;
	send_waits(pid);
	wait.until = claim.since + YIELD_HELD_NS;
	wait_for(&wait);
	return 0;
}

static __always_inline int release_cupti(__u32 pid)
{
	struct yield_claim *claim = bpf_map_lookup_elem(&claims, &pid);

	if (claim)
		claim->held = 0;
	send(YIELD_EVENT_FREE, pid, 0);
	return 0;
}

static __always_inline __u64 caller_of(struct pt_regs *ctx)
{
	__u64 caller = 0;

#if defined(__TARGET_ARCH_arm64)
	caller = PT_REGS_RET(ctx);
#else
	bpf_probe_read_user(&caller, sizeof(caller), (void *)PT_REGS_SP(ctx));
#endif
	return caller;
}

/* The agent has several threads that call CUPTI; what they have in common is where they call from.
 * A function of libcupti may call another one: on the thread that the agent switches things with.
 */
static __always_inline bool is_agent(const struct yield_claim *claim, __u64 address)
{
	if (!claim)
		return false;
	return (address >= claim->code && address < claim->code_end) || claim->tid == this_thread();
}

/* NULL: the map is full. */
static __always_inline struct yield_client *client_of(__u64 caller, __u32 pid)
{
	struct yield_client *client = bpf_map_lookup_elem(&clients, &pid);
	struct yield_client made = {.since = bpf_ktime_get_ns()};

	if (client && is_there(client, made.since))
		return client;
	made.caller = caller;
	made.last = made.since;
	if (bpf_map_update_elem(&clients, &pid, &made, BPF_ANY))
		__sync_fetch_and_add(&unseen, 1);
	return bpf_map_lookup_elem(&clients, &pid);
}

/* Until the agent has left. A session is held once. */
static __always_inline void hold(struct pt_regs *ctx, struct yield_client *client, __u32 pid)
{
	struct wait wait = {.pid = pid, .stack = PT_REGS_SP(ctx)};
	__u64 now = bpf_ktime_get_ns();

	send_waits(pid);
	if (!client->held_since)
		client->held_since = now;
	wait.until = client->held_since + YIELD_HELD_NS;
	wait_for(&wait);
	client->held_ns += bpf_ktime_get_ns() - now;
}

/* What a call that fails has not switched on is remembered: one at a time, as clients do. */
static __always_inline void note_kind(struct yield_client *client, __u64 kind, bool on)
{
	__u64 bit = 1ull << (kind & 63);

	client->tried = on ? bit & ~client->kinds : 0;
	if (on)
		client->kinds |= bit;
	else
		client->kinds &= ~bit;
}

/* Has it a uprobe at its return, too? */
static __always_inline bool returns(__u32 call)
{
	return call == YIELD_SUBSCRIBE || call == YIELD_UNSUBSCRIBE || call == YIELD_ENABLE ||
	       call == YIELD_ENABLE_IN || call == YIELD_FLUSH || call == YIELD_FINALIZE;
}

/* What the call means, at its entry. */
static __always_inline void note_call(struct pt_regs *ctx, struct yield_client *client, __u32 call)
{
	if (returns(call))
		__sync_fetch_and_add(&client->calls, 1);
	switch (call) {
	case YIELD_ENABLE:
	case YIELD_DISABLE:
		note_kind(client, PT_REGS_PARM1(ctx), call == YIELD_ENABLE);
		break;
	case YIELD_ENABLE_IN:
	case YIELD_DISABLE_IN:
		note_kind(client, PT_REGS_PARM2(ctx), call == YIELD_ENABLE_IN);
		break;
	}
}

/* By these a client begins; others without one that has begun say nothing. */
static __always_inline bool begins(__u32 call)
{
	return call == YIELD_SUBSCRIBE || call == YIELD_BUFFERS || call == YIELD_ENABLE ||
	       call == YIELD_ENABLE_IN || call == YIELD_FINALIZE;
}

SEC("uprobe.s")
int yield_call(struct pt_regs *ctx)
{
	__u32 call = (__u32)bpf_get_attach_cookie(ctx), pid = this_process();
	struct yield_client *client;
	struct yield_claim *claim;
	__u64 caller;

	keep_own_stack(ctx);
	if (!pid)
		return 0;
	if (call == YIELD_CLAIM || call == YIELD_CLAIM_HINTED)
		return claim_cupti(ctx, pid, call == YIELD_CLAIM_HINTED);
	if (call == YIELD_RELEASE)
		return release_cupti(pid);
	caller = caller_of(ctx);
	claim = bpf_map_lookup_elem(&claims, &pid);
	if (is_agent(claim, caller)) {
		if (begins(call))
			claim->tid = this_thread();
		return 0;
	}
	client = begins(call) ? client_of(caller, pid) : bpf_map_lookup_elem(&clients, &pid);
	if (!client || (!begins(call) && !is_there(client, bpf_ktime_get_ns())))
		return 0;
	client->tid = this_thread();
	note_call(ctx, client, call);
	client->last = bpf_ktime_get_ns();
	/* Looked at again: the agent may have come since, and sees the client then. */
	claim = bpf_map_lookup_elem(&claims, &pid);
	if (begins(call) && claim && claim->held)
		hold(ctx, client, pid);
	else
		send(YIELD_EVENT_CHANGE, pid, 0);
	client->last = bpf_ktime_get_ns();
	return 0;
}

SEC("uprobe.s")
int yield_return(struct pt_regs *ctx)
{
	__u32 call = (__u32)bpf_get_attach_cookie(ctx), pid = this_process();
	struct yield_client *client = bpf_map_lookup_elem(&clients, &pid);
	bool success = !(__u32)PT_REGS_RC(ctx);

	keep_own_stack(ctx);
	/* The agent returns to where it has called from, and nobody else does. */
	if (!client || is_agent(bpf_map_lookup_elem(&claims, &pid), PT_REGS_IP(ctx)))
		return 0;
	if (client->calls)
		__sync_fetch_and_add(&client->calls, -1);
	if (call == YIELD_SUBSCRIBE && success)
		client->subscribed = 1;
	if (success && (call == YIELD_UNSUBSCRIBE || call == YIELD_FINALIZE))
		client->subscribed = 0;
	if (success && call == YIELD_FINALIZE)
		client->kinds = 0;
	if (!success && (call == YIELD_ENABLE || call == YIELD_ENABLE_IN))
		client->kinds &= ~client->tried;
	client->last = bpf_ktime_get_ns();
	send(YIELD_EVENT_CHANGE, pid, 0);
	return 0;
}

static __always_inline void forget(__u32 pid)
{
	bool known = !bpf_map_delete_elem(&clients, &pid);

	known |= !bpf_map_delete_elem(&claims, &pid);
	if (known)
		send(YIELD_EVENT_END, pid, 0);
}

/* Attached only to raise the semaphore of cuda:yield. */
SEC("uprobe")
int yield_switch(struct pt_regs *ctx)
{
	return 0;
}

SEC("raw_tp/sched_process_exec")
int yield_exec(struct bpf_raw_tracepoint_args *ctx)
{
	forget(this_process());
	return 0;
}

SEC("raw_tp/sched_process_exit")
int yield_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];

	if (!BPF_CORE_READ(task, signal, live.counter))
		forget(process_of(task));
	return 0;
}
