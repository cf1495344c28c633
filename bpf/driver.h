/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The driver's own entry points (libcuda.so.1), for processes without a guest: launches, memory,
 * copies, waits and their results, as the host sees them; no time of the GPU. Included once, by
 * stream.bpf.c. One program at the entries, one at the returns; the cookie says which function it
 * is (enum driver_shape, and the function's number), because each link takes 100 ms to remove.
 */
#ifndef BPF_DRIVER_H
#define BPF_DRIVER_H

struct driver_key {
	__u64 thread;
	__u64 cookie;
};

struct driver_call {
	__u64 start;
	__u64 args[4];
	__u32 grid[3];
	__u32 block[3];
	__u32 shared;
	__u32 pad;
	__u64 stream;
};

/* Calls under way. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct driver_key);
	__type(value, struct driver_call);
} driver_calls SEC(".maps");

/* --source driver: every process that the filter lets through. */
const volatile bool driver_all;

/* Processes that are to be seen this way; the tool fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u8);
} driver_pids SEC(".maps");

#if defined(__TARGET_ARCH_x86)
#define DRIVER_REGISTERS 6
#define DRIVER_STACK	 8 /* the return address lies before the arguments */
#elif defined(__TARGET_ARCH_arm64)
#define DRIVER_REGISTERS 8
#define DRIVER_STACK	 0
#endif

/* Arguments that found no register. */
static __always_inline __u64 stack_argument(struct pt_regs *ctx, int n)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value),
			    (void *)(PT_REGS_SP(ctx) + DRIVER_STACK + 8 * (n - DRIVER_REGISTERS)));
	return value;
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
#else
	call->block[1] = ctx->r9;
	call->block[2] = stack_argument(ctx, 6);
	call->shared = stack_argument(ctx, 7);
#endif
	call->stream = stack_argument(ctx, 8);
}

/* (const CUlaunchConfig *, function, ...): six dimensions, shared bytes, then the stream at 32. */
static __always_inline void read_launch_ex(struct pt_regs *ctx, struct driver_call *call)
{
	const char *config = (const char *)PT_REGS_PARM1(ctx);

	call->args[0] = PT_REGS_PARM2(ctx);
	bpf_probe_read_user(call->grid, 28, config);
	bpf_probe_read_user(&call->stream, 8, config + 32);
}

static __always_inline void forget_driver_process(__u32 pid)
{
	bpf_map_delete_elem(&driver_pids, &pid);
}

static __always_inline bool is_driver_process(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return driver_all || bpf_map_lookup_elem(&driver_pids, &tgid);
}

SEC("kprobe")
int driver_entry(struct pt_regs *ctx)
{
	struct driver_key key = {bpf_get_current_pid_tgid(), bpf_get_attach_cookie(ctx)};
	struct driver_call call = {};
	__u32 shape = (__u32)key.cookie & 0xff;

	if (!is_driver_process())
		return 0;
	if (shape == DRIVER_LAUNCH) {
		read_launch(ctx, &call);
	} else if (shape == DRIVER_LAUNCH_EX) {
		read_launch_ex(ctx, &call);
	} else {
		call.args[0] = PT_REGS_PARM1(ctx);
		call.args[1] = PT_REGS_PARM2(ctx);
		call.args[2] = PT_REGS_PARM3(ctx);
		call.args[3] = PT_REGS_PARM4(ctx);
	}
	call.start = bpf_ktime_get_ns();
	bpf_map_update_elem(&driver_calls, &key, &call, BPF_ANY);
	return 0;
}

/* Reserves an event with one record of a constant size, addressed; NULL after counting. */
static __always_inline struct event *driver_event(struct parcel *parcel, __u32 group, __u64 size)
{
	struct stream_counters *counter = this_cpu_counters();
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e) + size, 0);

	if (!e) {
		if (counter && group < CUDA_GROUP_COUNT)
			count_up(&counter->ring_full[group], 1);
		return NULL;
	}
	parcel->kind = EVENT_BATCH;
	parcel->group = group;
	parcel->count = 1;
	parcel->bytes = size;
	address(e, parcel);
	e->source = EVENT_SOURCE_DRIVER;
	return e;
}

#define DRIVER_RECORD(type, group)                            \
	e = driver_event(parcel, group, sizeof(struct type)); \
	if (!e)                                               \
		return;                                       \
	struct type *record = (void *)e->data;                \
	__builtin_memset(record, 0, sizeof(*record));         \
	record->head.size = sizeof(*record)

/* Handles are addresses, aligned to 8 at least. */
static __always_inline __u32 handle_id(__u64 handle)
{
	return (__u32)(handle >> 3) ^ (__u32)(handle >> 35);
}

static __always_inline void driver_launch(struct parcel *parcel, struct driver_call *call,
					  __u64 end, __s32 result, bool graph)
{
	struct event *e;

	DRIVER_RECORD(cuda_launch, CUDA_GROUP_LAUNCH);
	record->head.kind = graph ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH;
	record->start = call->start;
	record->end = end;
	record->stream = graph ? call->args[1] : call->stream;
	record->tid = parcel->tid;
	record->result = result;
	record->domain = CUDA_DOMAIN_DRIVER;
	if (!graph) {
		record->name = handle_id(call->args[0]);
		__builtin_memcpy(record->grid, call->grid, sizeof(record->grid));
		__builtin_memcpy(record->block, call->block, sizeof(record->block));
		record->dynamic_shared = call->shared;
	}
	bpf_ringbuf_submit(e, wake_flags());
}

static __always_inline void driver_memory(struct parcel *parcel, struct driver_call *call,
					  __u64 end, __u32 kind, bool is_free)
{
	struct event *e;

	DRIVER_RECORD(cuda_memory, CUDA_GROUP_MEMORY);
	record->head.kind = CUDA_RECORD_MEMORY;
	record->time = end;
	record->kind = kind;
	record->device = ~0u;
	record->operation = is_free ? 2 : 1;
	record->address = call->args[0];
	if (!is_free) {
		record->bytes = call->args[1];
		bpf_probe_read_user(&record->address, 8, (void *)call->args[0]);
	}
	bpf_ringbuf_submit(e, wake_flags());
}

static __always_inline void driver_copy(struct parcel *parcel, struct driver_call *call, __u64 end,
					__u32 kind)
{
	struct event *e;

	DRIVER_RECORD(cuda_memcpy, CUDA_GROUP_MEMCPY);
	record->head.kind = CUDA_RECORD_MEMCPY;
	record->start = call->start; /* of the call: the GPU's are not known */
	record->end = end;
	record->bytes = call->args[2];
	record->copy_kind = kind;
	record->copies = 1;
	record->device = ~0u;
	bpf_ringbuf_submit(e, wake_flags());
}

static __always_inline void driver_sync(struct parcel *parcel, struct driver_call *call, __u64 end,
					__s32 result, __u32 type)
{
	struct event *e;

	DRIVER_RECORD(cuda_sync, CUDA_GROUP_SYNC);
	record->head.kind = CUDA_RECORD_SYNC;
	record->start = call->start;
	record->end = end;
	record->stream = ~0u;
	record->event = ~0u;
	record->result = result;
	record->type = type;
	bpf_ringbuf_submit(e, wake_flags());
}

static __always_inline void driver_failure(struct parcel *parcel, struct driver_call *call,
					   __u64 end, __s32 result, __u32 function)
{
	struct event *e;

	DRIVER_RECORD(cuda_api, CUDA_GROUP_API_ERROR);
	record->head.kind = CUDA_RECORD_API;
	record->start = call->start;
	record->end = end;
	record->tid = parcel->tid;
	record->name = DRIVER_FUNCTION_NAME + function;
	record->result = result;
	record->domain = CUDA_DOMAIN_DRIVER;
	record->group = CUDA_GROUP_API_OTHER;
	bpf_ringbuf_submit(e, wake_flags());
}

/* (handle *out, module or library, const char *name) */
static __always_inline void driver_name(struct parcel *parcel, struct driver_call *call)
{
	struct stream_counters *counter = this_cpu_counters();
	__u64 handle = 0;
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e) + 1024, 0);
	long length;

	if (!e) {
		if (counter)
			count_up(&counter->ring_full_other, 1);
		return;
	}
	bpf_probe_read_user(&handle, 8, (void *)call->args[0]);
	parcel->kind = EVENT_NAME;
	parcel->group = handle_id(handle);
	address(e, parcel);
	e->source = EVENT_SOURCE_DRIVER;
	length = bpf_probe_read_user_str(e->data, 1024, (void *)call->args[2]);
	e->bytes = length > 0 ? length : 0;
	bpf_ringbuf_submit(e, wake_flags());
}

/* (function *out, kernel): the function goes by the kernel's name. */
static __always_inline void driver_alias(struct parcel *parcel, struct driver_call *call)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	__u64 handle = 0;

	if (!e)
		return;
	bpf_probe_read_user(&handle, 8, (void *)call->args[0]);
	parcel->kind = EVENT_ALIAS;
	parcel->group = handle_id(handle);
	parcel->first = handle_id(call->args[1]);
	address(e, parcel);
	e->source = EVENT_SOURCE_DRIVER;
	bpf_ringbuf_submit(e, wake_flags());
}

static __always_inline void driver_success(struct parcel *parcel, struct driver_call *call,
					   __u64 end, __u32 shape, __u32 detail)
{
	switch (shape) {
	case DRIVER_ALLOC:
		driver_memory(parcel, call, end, detail, false);
		break;
	case DRIVER_FREE:
		driver_memory(parcel, call, end, detail, true);
		break;
	case DRIVER_COPY:
		driver_copy(parcel, call, end, detail);
		break;
	case DRIVER_NAME:
		driver_name(parcel, call);
		break;
	case DRIVER_ALIAS:
		driver_alias(parcel, call);
		break;
	}
}

SEC("kprobe")
int driver_return(struct pt_regs *ctx)
{
	struct driver_key key = {bpf_get_current_pid_tgid(), bpf_get_attach_cookie(ctx)};
	struct driver_call *found = bpf_map_lookup_elem(&driver_calls, &key);
	__u32 shape = (__u32)key.cookie & 0xff, detail = (__u32)(key.cookie >> 8) & 0xff;
	__u64 end = bpf_ktime_get_ns();
	__s32 result = (__s32)PT_REGS_RC(ctx);
	struct driver_call call;
	struct parcel parcel;

	if (!found)
		return 0;
	call = *found;
	bpf_map_delete_elem(&driver_calls, &key);
	if (!identify(&parcel))
		return 0;
	parcel.instance = DRIVER_INSTANCE;
	parcel.first = EVENT_UNNUMBERED;
	if (shape == DRIVER_LAUNCH || shape == DRIVER_LAUNCH_EX || shape == DRIVER_GRAPH)
		driver_launch(&parcel, &call, end, result, shape == DRIVER_GRAPH);
	else if (shape == DRIVER_SYNC)
		driver_sync(&parcel, &call, end, result, detail);
	else if (!result)
		driver_success(&parcel, &call, end, shape, detail);
	if (result)
		driver_failure(&parcel, &call, end, result, (__u32)(key.cookie >> 16) & 0xffff);
	return 0;
}

#endif
