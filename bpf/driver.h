/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The driver's own entry points (libcuda.so.1), for processes without an agent: launches, memory,
 * copies, waits and their results, as the host sees them; no time of the GPU. One program at the
 * entries, one at the returns, one where launches fail; the cookie says which function it is (enum
 * driver_shape, and the function's number), because each link takes 100 ms to remove. Here are the
 * entries and how calls become records; they are handed over in driver_events.h (stream.bpf.c) and
 * driver_sums.h (aggregate.bpf.c). Included once by each, below its struct parcel and identify().
 */
#ifndef BPF_DRIVER_H
#define BPF_DRIVER_H

#include "bpf/filter.h"

struct driver_call {
	__u64 cookie;
	__u64 stack; /* pointer at the entry */
	__u64 start;
	__u64 args[4];
	__u32 grid[3];
	__u32 block[3];
	__u32 shared;
	__u16 direction; /* of a copy, whose bytes are args[2] and which is args[3] copies */
	__u16 unknown;	 /* a copy whose bytes are not */
	__u64 stream;
};

/* Calls that a thread is in, the outermost first. */
#define DRIVER_DEPTH 8
struct driver_thread {
	__u64 identified; /* when who it is was last looked up, in ticks */
	struct parcel parcel;
	__u32 depth;
	__u32 pad;
	struct driver_call calls[DRIVER_DEPTH];
};

/* The kernel finds it by way of the task itself, in half the time that a hash of its number takes,
 * and it ends with the task. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct driver_thread);
} driver_threads SEC(".maps");

/* Hits of the tool's own trial (DRIVER_TRIAL). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} driver_trials SEC(".maps");

/* --source driver: every process that the filter lets through. */
const volatile bool driver_all;

#if defined(__TARGET_ARCH_x86)
#define DRIVER_REGISTERS 6
#define DRIVER_STACK	 8 /* the return address lies before the arguments */
#elif defined(__TARGET_ARCH_arm64)
#define DRIVER_REGISTERS 8
#define DRIVER_STACK	 0
#endif

/* Arguments that found no register: `count` of them, from the n-th on. */
static __always_inline void stack_arguments(struct pt_regs *ctx, __u64 *to, int n, int count)
{
	bpf_probe_read_user(to, count * sizeof(*to),
			    (void *)(PT_REGS_SP(ctx) + DRIVER_STACK + 8 * (n - DRIVER_REGISTERS)));
}

/* (function, grid x, y, z, block x, y, z, shared, stream, ...) */
static __always_inline void read_launch(struct pt_regs *ctx, struct driver_call *call)
{
	call->args[0] = PT_REGS_PARM1(ctx);
	call->grid[0] = PT_REGS_PARM2(ctx);
	call->grid[1] = PT_REGS_PARM3(ctx);
	call->grid[2] = PT_REGS_PARM4(ctx);
	call->block[0] = PT_REGS_PARM5(ctx);
#if DRIVER_REGISTERS == 8
	/* What arm64 lets programs know of its struct pt_regs. */
	const struct user_pt_regs *registers = (const void *)ctx;

	call->block[1] = registers->regs[5];
	call->block[2] = registers->regs[6];
	call->shared = registers->regs[7];
	stack_arguments(ctx, &call->stream, 8, 1);
#else
	__u64 rest[3] = {};

	stack_arguments(ctx, rest, 6, 3);
	call->block[1] = ctx->r9;
	call->block[2] = rest[0];
	call->shared = rest[1];
	call->stream = rest[2];
#endif
}

/* (const CUlaunchConfig *, function, ...): six dimensions, shared bytes, then the stream at 32. */
static __always_inline void read_launch_ex(struct pt_regs *ctx, struct driver_call *call)
{
	const char *config = (const char *)PT_REGS_PARM1(ctx);

	call->args[0] = PT_REGS_PARM2(ctx);
	bpf_probe_read_user(call->grid, 28, config);
	bpf_probe_read_user(&call->stream, 8, config + 32);
}

/* Both kinds of memory of a copy that does not say its direction by its name (CUmemorytype: 1 host,
 * 2 device, 3 array; 4 is any), as CUPTI has it: a digit each, HtoH the lowest, then HtoD, HtoA,
 * DtoH ... */
#define DRIVER_DIRECTIONS 0x564782319ull

static __always_inline __u16 direction_between(__u32 from, __u32 to)
{
	if (from - 1 > 2 || to - 1 > 2)
		return 0;
	return DRIVER_DIRECTIONS >> 4 * (3 * (from - 1) + to - 1) & 0xf;
}

#define DRIVER_PEERS	10
#define DRIVER_ONE_PEER 8

static __always_inline void read_extent(struct driver_call *call, const char *copy, int from,
					int to, int extent, int dimensions)
{
	__u32 kinds[2] = {};
	__u64 sizes[3] = {0, 1, 1};

	bpf_probe_read_user(&kinds[0], 4, copy + from);
	bpf_probe_read_user(&kinds[1], 4, copy + to);
	call->unknown = bpf_probe_read_user(sizes, dimensions * 8, copy + extent) != 0;
	call->args[2] = call->unknown ? 0 : sizes[0] * sizes[1] * sizes[2];
	call->direction = direction_between(kinds[0], kinds[1]);
}

#define DRIVER_MAX_SIZES 128

/* What is longer counts as that many copies, of bytes that nobody knows. */
static __always_inline void read_batch(struct driver_call *call, const __u64 *sizes, __u64 count)
{
	__u64 sum = 0, size;

	call->args[3] = count;
	call->unknown = count > DRIVER_MAX_SIZES;
	for (__u32 i = 0; i < DRIVER_MAX_SIZES && i < count && !call->unknown; i++) {
		call->unknown = bpf_probe_read_user(&size, sizeof(size), &sizes[i]) != 0;
		sum += size;
	}
	call->args[2] = call->unknown ? 0 : sum;
}

static __always_inline void read_copy(struct pt_regs *ctx, struct driver_call *call)
{
	__u32 layout = DRIVER_LAYOUT_OF(call->cookie);
	const char *first = (const char *)PT_REGS_PARM1(ctx);

	call->direction = call->cookie >> 8 & 0xff;
	call->unknown = layout == DRIVER_UNKNOWN;
	call->args[2] = 0;
	call->args[3] = 1;
	if (layout == DRIVER_PLAIN)
		call->args[2] = PT_REGS_PARM3(ctx);
	else if (layout == DRIVER_FOURTH)
		call->args[2] = PT_REGS_PARM4(ctx);
	else if (layout == DRIVER_FIFTH)
		call->args[2] = PT_REGS_PARM5(ctx);
	else if (layout == DRIVER_RECTANGLE)
		read_extent(call, first, DRIVER_RECTANGLE_FROM, DRIVER_RECTANGLE_TO,
			    DRIVER_RECTANGLE_EXTENT, 2);
	else if (layout == DRIVER_BOX)
		read_extent(call, first, DRIVER_BOX_FROM, DRIVER_BOX_TO, DRIVER_BOX_EXTENT, 3);
	else if (layout == DRIVER_BATCH)
		read_batch(call, (const __u64 *)PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx));
	/* (target, its context, source, its context, ...): of one context it is no peer. */
	if (call->direction == DRIVER_PEERS && PT_REGS_PARM2(ctx) == PT_REGS_PARM4(ctx))
		call->direction = DRIVER_ONE_PEER;
}

static __always_inline bool is_driver_process(__u64 cookie)
{
	__u32 tgid = this_process();
	__u64 *number;

	if (driver_all)
		return true;
	number = bpf_map_lookup_elem(&driver_pids, &tgid);
	return number && !(*number & DRIVER_HAS_OWN_LINK) == !(cookie & DRIVER_OWN_LINK);
}

static __always_inline struct driver_thread *this_driver_thread(void)
{
	return bpf_task_storage_get(&driver_threads, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void count_trial(void)
{
	__u32 zero = 0;
	__u64 *trials = bpf_map_lookup_elem(&driver_trials, &zero);

	if (trials)
		__sync_fetch_and_add(trials, 1);
}

/* The compiler must not find out that the mask does nothing: the verifier does not. */
static __always_inline struct driver_call *driver_call_at(struct driver_thread *thread, __u32 i)
{
	__asm__ volatile("" : "+r"(i));
	return &thread->calls[i & (DRIVER_DEPTH - 1)];
}

/* Space for one more call. Calls that were left without a return (longjmp) lie no higher than this
 * one does, and a thread that has the number of one that died inside a call begins anew when it has
 * no space. */
static __always_inline struct driver_call *push_driver_call(struct driver_thread *thread,
							    __u64 stack)
{
	__u32 depth = thread->depth;

	for (int i = 0; i < DRIVER_DEPTH && depth && depth <= DRIVER_DEPTH; i++) {
		if (driver_call_at(thread, depth - 1)->stack > stack)
			break;
		depth--;
	}
	if (depth >= DRIVER_DEPTH)
		depth = 0;
	thread->depth = depth + 1;
	/* Read again, as a number that the verifier does not know: else it looks at what follows
	 * once for each depth. */
	return driver_call_at(thread, *(volatile __u32 *)&thread->depth - 1);
}

static __always_inline __u32 shape_of_cookie(__u64 cookie)
{
	return (__u32)cookie & 0xff;
}

/* Handles are addresses, aligned to 8 at least. Below DRIVER_FUNCTION_NAME. */
static __always_inline __u32 handle_id(__u64 handle)
{
	return ((__u32)(handle >> 3) ^ (__u32)(handle >> 35)) & 0x7fffffff;
}

/* A call that has returned. */
struct driver_result {
	const struct driver_call *call;
	struct parcel *parcel; /* of its thread, which is listened to */
	__u64 end;
	__u32 shape; /* enum driver_shape */
	__u32 detail;
	__u32 function;
	__s32 result;
};

/* The innermost call of this function, those within it being over; NULL if its entry was not seen.
 */
static __always_inline struct driver_call *pop_driver_call(struct driver_thread *thread,
							   __u64 cookie)
{
	__u32 depth = thread->depth;

	for (int i = 0; i < DRIVER_DEPTH && depth && depth <= DRIVER_DEPTH; i++) {
		struct driver_call *call = driver_call_at(thread, --depth);

		if (call->cookie == cookie) {
			thread->depth = depth;
			return call;
		}
	}
	return NULL;
}

/* A thread may come to have another user or name: it is requested them again after so many ticks of
 * the kernel's clock, of 1 to 10 ms; that clock costs a fifth of what the exact one does. */
#define IDENTITY_TICKS 3

static __always_inline bool identify_driver_thread(struct driver_thread *thread)
{
	__u64 now = bpf_jiffies64();

	if (now - thread->identified < IDENTITY_TICKS)
		return true;
	if (!identify(&thread->parcel))
		return false;
	thread->identified = now;
	return true;
}

static __always_inline void describe_call(struct driver_result *done, __u64 cookie)
{
	done->shape = shape_of_cookie(cookie);
	done->detail = (__u32)(cookie >> 8) & 0xff;
	done->function = (__u32)(cookie >> 16) & 0xffff;
}

/* Removes a call from its thread's stack of calls and describes it: at its return, or where it
 * fails; .end is set. False: not a call that is traced, or its entry was not seen, which is counted
 * there. No thread means that no call of it was noted: before Linux 6.2 a busy lock could mean it
 * as well, but there is no link for these programs before 6.6. */
static __always_inline bool finish_driver_call(struct pt_regs *ctx, __u64 cookie,
					       struct driver_result *done)
{
	struct driver_thread *thread =
		bpf_task_storage_get(&driver_threads, bpf_get_current_task_btf(), NULL, 0);

	done->call = thread ? pop_driver_call(thread, cookie) : NULL;
	if (!done->call)
		return false;
	done->parcel = &thread->parcel;
	if (!identify_driver_thread(thread))
		return false;
	describe_call(done, cookie);
	done->result = (__s32)PT_REGS_RC(ctx);
	return true;
}

static __always_inline bool is_unknown(const struct driver_result *done)
{
	if (DRIVER_LAYOUT_OF(done->call->cookie) == DRIVER_UNKNOWN)
		return true;
	return done->shape == DRIVER_COPY && done->call->unknown;
}

/* Records are zeroed by the caller, but for what is set here. */
#define DRIVER_RECORD_HEAD(record, record_kind) \
	((record)->head = (struct cuda_record){.kind = (record_kind), .size = sizeof(*(record))})

static __always_inline void fill_driver_launch(struct driver_launch *to,
					       const struct driver_result *done)
{
	const struct driver_call *call = done->call;
	bool graph = done->shape == DRIVER_GRAPH;
	struct cuda_launch *record = &to->launch;

	record->head.kind = graph ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH;
	record->head.size = sizeof(*to);
	record->start = call->start;
	record->end = done->end;
	record->tid = DRIVER_TID(done->parcel);
	record->result = done->result;
	record->domain = CUDA_DOMAIN_DRIVER;
	record->cbid = done->function; /* the tool knows CUPTI's number of it */
	if (DRIVER_LAYOUT_OF(call->cookie) == DRIVER_UNKNOWN) {
		record->name = graph ? 0 : DRIVER_FUNCTION_NAME + done->function;
		return;
	}
	if (graph) {
		record->stream = call->args[1];
		return;
	}
	to->kernel = call->args[0];
	record->name = handle_id(call->args[0]);
	record->stream = call->stream;
	__builtin_memcpy(record->grid, call->grid, sizeof(record->grid));
	__builtin_memcpy(record->block, call->block, sizeof(record->block));
	record->dynamic_shared = call->shared;
}

static __always_inline void fill_driver_memory(struct cuda_memory *record,
					       const struct driver_result *done)
{
	bool is_free = done->shape == DRIVER_FREE;

	DRIVER_RECORD_HEAD(record, CUDA_RECORD_MEMORY);
	record->time = done->end;
	record->kind = done->detail;
	record->device = ~0u;
	record->operation = is_free ? 2 : 1;
	if (is_unknown(done))
		return;
	record->address = done->call->args[0];
	if (is_free)
		return;
	record->bytes = done->call->args[1];
	bpf_probe_read_user(&record->address, 8, (void *)done->call->args[0]);
	if (DRIVER_LAYOUT_OF(done->call->cookie) == DRIVER_PITCH) {
		record->bytes = 0;
		bpf_probe_read_user(&record->bytes, 8, (void *)done->call->args[1]);
		record->bytes *= done->call->args[3];
	}
}

static __always_inline void fill_driver_copy(struct cuda_memcpy *record,
					     const struct driver_result *done)
{
	DRIVER_RECORD_HEAD(record, CUDA_RECORD_MEMCPY);
	record->start = done->call->start; /* of the call: the GPU's are not known */
	record->end = done->end;
	record->bytes = done->call->args[2];
	record->copy_kind = done->call->direction;
	record->copies = done->call->args[3];
	record->device = ~0u;
}

static __always_inline void fill_driver_sync(struct cuda_sync *record,
					     const struct driver_result *done)
{
	DRIVER_RECORD_HEAD(record, CUDA_RECORD_SYNC);
	record->start = done->call->start;
	record->end = done->end;
	record->stream = ~0u;
	record->event = ~0u;
	record->result = done->result;
	record->type = done->detail;
}

/* A call of a function whose arguments are not known. */
static __always_inline void count_unknown(void);

/* The kernel had no memory for the thread. */
static __always_inline void lose_driver_call(void);

#ifdef DRIVER_REPORTS_AT_ENTRY
/* Nobody waits for this call's return: how long it takes is not known, and a further program sees
 * those that fail. */
static __always_inline void report_at_entry(struct driver_thread *thread, struct driver_call *call);
#endif

static __always_inline void read_arguments(struct pt_regs *ctx, struct driver_call *call)
{
	call->args[0] = PT_REGS_PARM1(ctx);
	call->args[1] = PT_REGS_PARM2(ctx);
	call->args[2] = PT_REGS_PARM3(ctx);
	call->args[3] = PT_REGS_PARM4(ctx);
}

static __always_inline void read_call(struct pt_regs *ctx, struct driver_call *call, __u32 shape)
{
	if (shape == DRIVER_COPY)
		read_copy(ctx, call);
	else if (DRIVER_LAYOUT_OF(call->cookie) == DRIVER_UNKNOWN)
		return;
	else if (shape == DRIVER_LAUNCH)
		read_launch(ctx, call);
	else if (shape == DRIVER_LAUNCH_EX)
		read_launch_ex(ctx, call);
	else
		read_arguments(ctx, call);
}

SEC("kprobe")
int driver_entry(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 shape = shape_of_cookie(cookie);
	struct driver_thread *thread;
	struct driver_call *call;

	keep_own_stack(ctx);
	if (shape == DRIVER_TRIAL)
		count_trial();
	if (shape == DRIVER_TRIAL || !is_driver_process(cookie))
		return 0;
	thread = this_driver_thread();
	if (!thread) {
		lose_driver_call();
		return 0;
	}
	call = push_driver_call(thread, PT_REGS_SP(ctx));
	call->cookie = cookie;
	call->stack = PT_REGS_SP(ctx);
#ifdef DRIVER_REPORTS_AT_ENTRY
	if (cookie & DRIVER_REPORTED_AT_ENTRY) {
		read_call(ctx, call, shape);
		report_at_entry(thread, call);
		return 0;
	}
#endif
	read_call(ctx, call, shape);
	call->start = bpf_ktime_get_ns();
	return 0;
}

#endif
