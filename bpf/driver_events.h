/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of the driver as events in the ring buffer. Included once, by stream.bpf.c.
 */
#ifndef BPF_DRIVER_EVENTS_H
#define BPF_DRIVER_EVENTS_H

#define DRIVER_REPORTS_AT_ENTRY
#define DRIVER_TID(parcel) ((parcel)->tid)
#include "bpf/driver.h"

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
	address_at(e, parcel, parcel->time);
	e->source = EVENT_SOURCE_DRIVER;
	return e;
}

/* Sends one zeroed record that fill() completes. */
#define SEND_DRIVER_RECORD(parcel, done, type, group, fill)                             \
	do {                                                                            \
		struct event *event = driver_event(parcel, group, sizeof(struct type)); \
                                                                                        \
		if (!event)                                                             \
			return;                                                         \
		__builtin_memset(event->data, 0, sizeof(struct type));                  \
		fill((struct type *)event->data, done);                                 \
		bpf_ringbuf_submit(event, wake_flags());                                \
	} while (0)

static __always_inline void send_driver_launch(struct parcel *parcel,
					       const struct driver_result *done)
{
	SEND_DRIVER_RECORD(parcel, done, driver_launch, CUDA_GROUP_LAUNCH, fill_driver_launch);
}

static __always_inline void fill_failed_launch(struct driver_launch *record,
					       const struct driver_result *done)
{
	fill_driver_launch(record, done);
	record->launch.flags = DRIVER_LAUNCH_FAILED;
}

static __always_inline void send_failed_launch(struct parcel *parcel,
					       const struct driver_result *done)
{
	SEND_DRIVER_RECORD(parcel, done, driver_launch, CUDA_GROUP_LAUNCH, fill_failed_launch);
}

static __always_inline void send_driver_memory(struct parcel *parcel,
					       const struct driver_result *done)
{
	SEND_DRIVER_RECORD(parcel, done, cuda_memory, CUDA_GROUP_MEMORY, fill_driver_memory);
}

static __always_inline void send_driver_copy(struct parcel *parcel,
					     const struct driver_result *done)
{
	SEND_DRIVER_RECORD(parcel, done, cuda_memcpy, CUDA_GROUP_MEMCPY, fill_driver_copy);
}

static __always_inline void send_driver_sync(struct parcel *parcel,
					     const struct driver_result *done)
{
	SEND_DRIVER_RECORD(parcel, done, cuda_sync, CUDA_GROUP_SYNC, fill_driver_sync);
}

/* As far as the call's own arguments say it, or a launch's config, which the kernel can read where
 * the program could not. */
static __always_inline void fill_driver_arguments(struct cuda_api *record,
						  const struct driver_result *done)
{
	const struct driver_call *call = done->call;

	if (is_unknown(done))
		return;
	if (done->shape == DRIVER_LAUNCH || done->shape == DRIVER_LAUNCH_EX) {
		record->flags = CUDA_API_LAUNCH;
		__builtin_memcpy(record->arguments.launch.grid, call->grid, sizeof(call->grid));
		__builtin_memcpy(record->arguments.launch.block, call->block, sizeof(call->block));
		record->arguments.launch.dynamic_shared = call->shared;
		record->arguments.launch.kernel = handle_id(call->args[0]);
	} else if (done->shape == DRIVER_ALLOC && DRIVER_LAYOUT_OF(call->cookie) == DRIVER_PLAIN) {
		record->flags = CUDA_API_BYTES;
		record->arguments.call.bytes = call->args[1];
	} else if (done->shape == DRIVER_FREE) {
		record->flags = CUDA_API_ADDRESS;
		record->arguments.call.address = call->args[0];
	} else if (done->shape == DRIVER_COPY) {
		record->flags = CUDA_API_BYTES | (call->direction ? CUDA_API_COPY_KIND : 0);
		record->arguments.call.bytes = call->args[2];
		record->arguments.call.copy_kind = call->direction;
	}
}

static __always_inline void fill_driver_failure(struct cuda_api *record,
						const struct driver_result *done)
{
	DRIVER_RECORD_HEAD(record, CUDA_RECORD_API);
	record->start = done->call->start;
	record->end = done->end;
	record->tid = done->parcel->tid;
	record->name = DRIVER_FUNCTION_NAME + done->function;
	record->result = done->result;
	record->domain = CUDA_DOMAIN_DRIVER;
	record->group = CUDA_GROUP_API_OTHER;
	fill_driver_arguments(record, done);
}

static __always_inline void send_driver_failure(struct parcel *parcel,
						const struct driver_result *done)
{
	SEND_DRIVER_RECORD(parcel, done, cuda_api, CUDA_GROUP_API_ERROR, fill_driver_failure);
}

/* (handle *out, module or library, const char *name), or (const char **out, handle) */
static __always_inline void driver_name(struct parcel *parcel, const struct driver_call *call)
{
	bool given = DRIVER_LAYOUT_OF(call->cookie) == DRIVER_GIVEN;
	struct stream_counters *counter = this_cpu_counters();
	__u64 handle = 0, text = call->args[2];
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e) + 1024, 0);
	long length;

	if (!e) {
		if (counter)
			count_up(&counter->ring_full_other, 1);
		return;
	}
	bpf_probe_read_user(given ? &text : &handle, 8, (void *)call->args[0]);
	parcel->kind = EVENT_NAME;
	parcel->group = handle_id(given ? call->args[1] : handle);
	address_at(e, parcel, parcel->time);
	e->source = EVENT_SOURCE_DRIVER;
	length = bpf_probe_read_user_str(e->data, 1024, (void *)text);
	if (length > 0) {
		e->bytes = length;
		bpf_ringbuf_submit(e, wake_flags());
		return;
	}
	bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
	if (counter)
		count_up(&counter->unreadable_other, 1);
}

/* (function *out, kernel): the function goes by the kernel's name. */
static __always_inline void driver_alias(struct parcel *parcel, const struct driver_call *call)
{
	struct stream_counters *counter = this_cpu_counters();
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	__u64 handle = 0;

	if (!e) {
		if (counter)
			count_up(&counter->ring_full_other, 1);
		return;
	}
	bpf_probe_read_user(&handle, 8, (void *)call->args[0]);
	parcel->kind = EVENT_ALIAS;
	parcel->bytes = 0; /* of the thread's event before this one */
	parcel->group = handle_id(handle);
	parcel->first = handle_id(call->args[1]);
	address_at(e, parcel, parcel->time);
	e->source = EVENT_SOURCE_DRIVER;
	bpf_ringbuf_submit(e, wake_flags());
}

static __always_inline void send_driver_success(struct parcel *parcel,
						const struct driver_result *done)
{
	switch (done->shape) {
	case DRIVER_ALLOC:
	case DRIVER_FREE:
		send_driver_memory(parcel, done);
		break;
	case DRIVER_COPY:
		send_driver_copy(parcel, done);
		break;
	case DRIVER_NAME:
		driver_name(parcel, done->call);
		break;
	case DRIVER_ALIAS:
		driver_alias(parcel, done->call);
		break;
	}
}

static __always_inline bool is_launch(const struct driver_result *done)
{
	return done->shape == DRIVER_LAUNCH || done->shape == DRIVER_LAUNCH_EX ||
	       done->shape == DRIVER_GRAPH;
}

static __always_inline struct parcel *sign_parcel(const struct driver_result *done, __u64 time)
{
	struct parcel *parcel = done->parcel;

	parcel->time = time;
	parcel->instance = DRIVER_INSTANCE;
	parcel->first = EVENT_UNNUMBERED;
	return parcel;
}

static __always_inline void lose_driver_call(void)
{
	struct stream_counters *counter = this_cpu_counters();

	if (counter)
		count_up(&counter->unreadable_other, 1);
}

static __always_inline void count_unknown(void)
{
	struct stream_counters *counter = this_cpu_counters();

	if (counter)
		count_up(&counter->driver_unknown, 1);
}

static __always_inline void report_at_entry(struct driver_thread *thread, struct driver_call *call)
{
	struct driver_result done = {.call = call, .parcel = &thread->parcel};

	call->start = 0;
	if (!identify_driver_thread(thread))
		return;
	describe_call(&done, call->cookie);
	if (is_unknown(&done))
		count_unknown();
	send_driver_launch(sign_parcel(&done, 0), &done);
}

/* Inside of a call that was reported at its entry, on the way that only those take which fail. */
SEC("kprobe")
int driver_failure(struct pt_regs *ctx)
{
	struct driver_result done = {.end = bpf_ktime_get_ns()};
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 result = DRIVER_RESULT_OF(cookie);
	struct parcel *parcel;

	keep_own_stack(ctx);
	if (!is_driver_process(cookie) ||
	    !finish_driver_call(ctx, cookie & ~DRIVER_RESULT(0xffff), &done))
		return 0;
	if (result)
		done.result = result;
	parcel = sign_parcel(&done, done.end);
	send_failed_launch(parcel, &done);
	send_driver_failure(parcel, &done);
	return 0;
}

SEC("kprobe")
int driver_return(struct pt_regs *ctx)
{
	struct driver_result done = {.end = bpf_ktime_get_ns()};
	struct parcel *parcel;

	keep_own_stack(ctx);
	if (!finish_driver_call(ctx, bpf_get_attach_cookie(ctx), &done))
		return 0;
	parcel = sign_parcel(&done, done.end);
	if (is_unknown(&done))
		count_unknown();
	if (is_launch(&done))
		send_driver_launch(parcel, &done);
	else if (done.shape == DRIVER_SYNC)
		send_driver_sync(parcel, &done);
	else if (!done.result)
		send_driver_success(parcel, &done);
	if (done.result)
		send_driver_failure(parcel, &done);
	return 0;
}

#endif
