/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of a launching thread, at its launch: return addresses by frame pointers, and the
 * frames of CPython. Included once, by stream.bpf.c.
 *
 * The thread stands still in the probe, and its frames hold its code objects, so neither can change
 * under this reading. Other threads run on where the launch gave up the interpreter's lock, so
 * lists of threads may change: every pointer is only ever read through, the walks are bounded, and
 * a thread counts only if its native id is ours. Whatever the process has put there instead, the
 * worst that comes of it are wrong names for itself.
 */
#ifndef BPF_STACKS_H
#define BPF_STACKS_H

#include "bpf/bounds.h"
#include "bpf/python_walk.h"
#include "bpf/stack_copy.h"
#include "libcupti-usdt/stack_probes.h"

struct code_key {
	__u32 pid;
	__u32 pad;
	__u64 code;
	__u64 key;
};

/* Python code objects that have been sent to the tool. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct code_key);
	__type(value, __u8);
} codes SEC(".maps");

/* The tool sets it before the load, if it wants to know what a stack takes. */
const volatile bool stacks_are_timed;

#define PAGE_BYTES     4096
#define WINDOW_WORDS   64
#define LOWEST_ADDRESS 65536 /* nobody may map anything below */

/* A piece of a stack. */
struct stack_window {
	__u64 first, bytes;
	__u64 is_probed; /* the thread is within a function whose return has a probe */
	__u64 words[WINDOW_WORDS];
};

/* A thread with stacks, and its process, which would cost too much to look up at each hit. */
struct stack_thread {
	__u64 identified; /* in ticks; see IDENTITY_TICKS */
	__u64 wakes;	  /* its next stack wakes the tool */
#if defined(__TARGET_ARCH_x86)
	struct stack_ends ends;
#endif
	struct parcel parcel;
	struct stack_window window;
	struct cuda_graph_call call; /* .start 0: a launch that counts among N */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stack_thread);
} stack_threads SEC(".maps");

#define SEND_CODE_IN_CLASS(size)                                                        \
	do {                                                                            \
		if (bytes > (size))                                                     \
			break;                                                          \
		e = bpf_ringbuf_reserve(&events, sizeof(*e) + sizeof(*to) + (size), 0); \
		if (!e)                                                                 \
			return RING_FULL;                                               \
		address(e, parcel);                                                     \
		to = (void *)e->data;                                                   \
		bytes = at_most(bytes, (size));                                         \
		if (bpf_probe_read_user(to->table, bytes,                               \
					(const void *)(table + python->bytes_data)))    \
			bytes = 0;                                                      \
		fill_code(e, python, key, bytes);                                       \
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);                                \
		return SENT;                                                            \
	} while (0)

static __always_inline void fill_code(struct event *e, const struct cuda_python *python,
				      const struct code_key *key, __u32 bytes)
{
	struct event_code *to = (void *)e->data;
	__u32 width;

	e->kind = EVENT_CODE;
	e->bytes = sizeof(*to) + bytes;
	to->code = key->code;
	to->key = key->key;
	to->version = python->version;
	to->first_line = read_half(key->code + python->code_firstlineno);
	to->file_bytes = read_text(to->file, CODE_FILE_LEN, &width, python,
				   read_word(key->code + python->code_filename));
	to->file_width = width;
	to->name_bytes = read_text(to->name, CODE_NAME_LEN, &width, python,
				   read_word(key->code + python->code_qualname));
	to->name_width = width;
	to->table_bytes = bytes;
}

/* Not static: the verifier looks at it once, and not for each frame of a loop. */
__noinline int send_code(const struct parcel *parcel, const struct cuda_python *python,
			 const struct code_key *key)
{
	struct event_code *to;
	struct event *e;
	__u64 table, bytes;

	if (!parcel || !python || !key)
		return UNREADABLE;
	table = read_word(key->code + python->code_linetable);
	bytes = read_word(table + python->bytes_size);
	if (bytes > CODE_TABLE_MAX)
		bytes = CODE_TABLE_MAX;
	SEND_CODE_IN_CLASS(256);
	SEND_CODE_IN_CLASS(2048);
	SEND_CODE_IN_CLASS(CODE_TABLE_MAX);
	return UNREADABLE;
}

/* Sends a code object to the tool, once. False: there was no space. */
static __always_inline bool send_code_once(const struct parcel *parcel,
					   const struct cuda_python *python,
					   const struct stack_python_frame *frame)
{
	struct code_key key = {.pid = parcel->pid, .code = frame->code, .key = frame->key};
	__u8 one = 1;

	if (bpf_map_lookup_elem(&codes, &key))
		return true;
	if (send_code(parcel, python, &key) == RING_FULL)
		return false;
	bpf_map_update_elem(&codes, &key, &one, BPF_ANY);
	return true;
}

enum { FRAME_READ, FRAME_IS_SHIM, FRAME_BROKEN, FRAME_UNSENT };

/* The frame at this address: FRAME_READ, or why it is not usable. Not static, as send_code(). */
__noinline int read_python_frame(const struct parcel *parcel, const struct cuda_python *python,
				 struct stack_python_frame *frame, __u64 at)
{
	if (!parcel || !python || !frame)
		return FRAME_BROKEN;
	if (is_shim(python, at))
		return FRAME_IS_SHIM;
	frame->code = code_of(python, at);
	if (!frame->code)
		return FRAME_BROKEN;
	read_frame(python, at, frame);
	return send_code_once(parcel, python, frame) ? FRAME_READ : FRAME_UNSENT;
}

/* RING_FULL, or SENT: stack->python says how it went. */
static __noinline int walk_python(struct event_stack *stack, const struct parcel *parcel,
				  const struct cuda_python *python)
{
	__u64 thread = python_thread(python, stack->tid);
	__u64 at = thread ? innermost_frame(python, thread) : 0;
	int n = 0;

	stack->python = thread ? STACK_PYTHON_WALKED : STACK_PYTHON_STRANGE;
	for (; n < STACK_PYTHON_FRAMES && at; n++) {
		struct stack_python_frame frame = {};
		int read = read_python_frame(parcel, python, &frame, at);

		if (read == FRAME_UNSENT)
			return RING_FULL;
		if (read == FRAME_BROKEN) {
			stack->python = STACK_PYTHON_BROKEN;
			break;
		}
		/* A shim takes a place, too: with a count of its own the verifier would have to
		 * look at every number of shims among every number of frames. */
		stack->python_frames[n] = frame;
		at = read_word(at + python->frame_previous);
	}
	if (at && stack->python == STACK_PYTHON_WALKED)
		stack->python = STACK_PYTHON_CUT;
	stack->frames = n;
	return SENT;
}

#if defined(__TARGET_ARCH_x86)
/* Called only where somebody has probes at returns. Not static, as send_code(). */
__noinline int restore_window(struct stack_window *window)
{
	if (window)
		restore_returns(saved_returns(), window->words, window->bytes, window->first,
				sizeof(window->words));
	return 0;
}

/*
 * The kernel's own walk goes on until it cannot read, so that each ends in a fault, mostly at
 * address 0, which was a third of what a stack took. This one looks before it reads, and reads a
 * piece of the stack at a time. It ends, too, where frames do not go up, as that of arm64 does.
 */
static __always_inline bool read_window(struct stack_window *window, __u64 at)
{
	/* The page behind may be none; a frame reaches into it at most by its second word. */
	__u64 bytes = PAGE_BYTES - (at & (PAGE_BYTES - 1));

	if (bytes < 2 * sizeof(__u64))
		bytes = 2 * sizeof(__u64);
	if (bytes > sizeof(window->words))
		bytes = sizeof(window->words);
	window->first = at;
	window->bytes = bytes;
	if (bpf_probe_read_user(window->words, bytes, (const void *)at))
		return false;
	if (window->is_probed)
		restore_window(window);
	return true;
}

/* A frame: the caller's one, and where it goes on. */
static __always_inline bool read_link(struct stack_window *window, __u64 at, __u64 *next,
				      __u64 *address)
{
	__u64 within;
	__u32 i;

	if (at < LOWEST_ADDRESS || at % sizeof(__u64))
		return false;
	within = at - window->first;
	if ((within >= window->bytes || window->bytes - within < 2 * sizeof(__u64)) &&
	    !read_window(window, at))
		return false;
	/* Read again, so that both ways here look alike to the verifier. */
	i = (at - *(volatile __u64 *)&window->first) / sizeof(__u64);
	*next = window->words[i & (WINDOW_WORDS - 1)];
	*address = window->words[(i + 1) & (WINDOW_WORDS - 1)];
	return *address >= LOWEST_ADDRESS;
}

struct stack_addresses {
	__u64 at[STACK_ADDRESSES];
};

/* How many there are. Not static, as send_code(). */
__noinline int walk_frames(struct stack_addresses *addresses, struct stack_window *window,
			   __u64 instruction, __u64 at)
{
	__u64 next;
	int n = 1;

	if (!addresses || !window)
		return 0;
	window->bytes = 0;
	window->is_probed = saved_returns() != NULL;
	addresses->at[0] = instruction;
	while (n < STACK_ADDRESSES && read_link(window, at, &next, &addresses->at[n])) {
		n++;
		if (next <= at)
			break;
		at = next;
	}
	return n;
}
#endif

static __always_inline void read_addresses(struct pt_regs *ctx, struct event_stack *stack,
					   struct stack_window *window)
{
#if defined(__TARGET_ARCH_x86)
	stack->depth =
		walk_frames((void *)stack->addresses, window, PT_REGS_IP(ctx), PT_REGS_FP(ctx));
#else
	long bytes =
		bpf_get_stack(ctx, stack->addresses, sizeof(stack->addresses), BPF_F_USER_STACK);

	stack->depth = bytes > 0 ? bytes / sizeof(stack->addresses[0]) : 0;
#endif
}

static __always_inline void count_stack(int outcome, __u64 start)
{
	struct stream_counters *counter = this_cpu_counters();

	if (!counter)
		return;
	if (stacks_are_timed)
		count_up(&counter->stack_ns, bpf_ktime_get_ns() - start);
	count_up(outcome == SENT	? &counter->stacks
		 : outcome == RING_FULL ? &counter->stacks_ring_full
					: &counter->stacks_unreadable,
		 1);
}

/* Fills what was reserved; `python` NULL = there is none, and no space for its frames. */
static __always_inline int fill_stack(struct pt_regs *ctx, struct event *e,
				      struct stack_thread *thread, const struct cuda_python *python,
				      __u32 tid, __u32 context)
{
	const struct parcel *parcel = &thread->parcel;
	struct event_stack *stack = (void *)e->data;
	int outcome = SENT;

	address_at(e, parcel, parcel->time);
	stack->correlation = parcel->group;
	stack->tid = tid;
	stack->context = context;
	stack->period = probe_value(ctx);
	stack->start = thread->call.start;
	stack->end = thread->call.end;
	stack->frames = 0;
	stack->python = STACK_PYTHON_NONE;
	read_addresses(ctx, stack, &thread->window);
	if (python)
		outcome = walk_python(stack, parcel, python);
	if (outcome == SENT && !stack->depth && !stack->frames)
		outcome = UNREADABLE;
	e->bytes = offsetof(struct event_stack, python_frames) +
		   (python ? stack->frames * sizeof(stack->python_frames[0]) : 0);
	return outcome;
}

#define STACK_WITHOUT_PYTHON (sizeof(struct event) + offsetof(struct event_stack, python_frames))
#define STACK_WITH_PYTHON    (sizeof(struct event) + sizeof(struct event_stack))

/* The first stack of a process wakes the tool, which must look at its mappings while it lives. */
static __always_inline bool is_first_stack(__u32 pid)
{
	struct code_key key = {.pid = pid};
	__u8 one = 1;

	return !bpf_map_lookup_elem(&codes, &key) &&
	       !bpf_map_update_elem(&codes, &key, &one, BPF_ANY);
}

#define SEND_STACK(size, python)                                              \
	do {                                                                  \
		e = bpf_ringbuf_reserve(&events, (size), 0);                  \
		if (!e)                                                       \
			return RING_FULL;                                     \
		outcome = fill_stack(ctx, e, thread, (python), tid, context); \
		if (outcome == SENT)                                          \
			bpf_ringbuf_submit(e, wake);                          \
		else                                                          \
			bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);             \
	} while (0)

static __always_inline int send_stack(struct pt_regs *ctx, struct stack_thread *thread, __u32 tid,
				      __u32 context, __u64 wake)
{
	const struct parcel *parcel = &thread->parcel;
	struct cuda_python python = {};
	struct event *e;
	int outcome;

	if (parcel->data && !bpf_probe_read_user(&python, sizeof(python), parcel->data) &&
	    python.size == sizeof(python))
		SEND_STACK(STACK_WITH_PYTHON, &python);
	else
		SEND_STACK(STACK_WITHOUT_PYTHON, NULL);
	return outcome;
}

/* An agent without this argument leaves anything in its register. */
static __always_inline void read_graph_call(struct pt_regs *ctx, struct cuda_graph_call *call)
{
	const void *from = (const void *)argument(ctx, 5);

	if (!from || bpf_probe_read_user(call, sizeof(*call), from) ||
	    call->size != sizeof(*call) || call->end < call->start)
		__builtin_memset(call, 0, sizeof(*call));
}

/* False: it is not listened to. */
static __always_inline bool identify_stack_thread(struct stack_thread *thread)
{
	__u64 now = bpf_jiffies64();

	if (now - thread->identified < IDENTITY_TICKS)
		return true;
	if (!identify(&thread->parcel))
		return false;
	thread->parcel.kind = EVENT_STACK;
	thread->wakes |= is_first_stack(thread->parcel.pid);
#if defined(__TARGET_ARCH_x86)
	find_stack_ends(&thread->ends);
#endif
	thread->identified = now;
	return true;
}

static __always_inline int send_thread_stack(struct pt_regs *ctx, struct stack_thread *thread)
{
	struct parcel *parcel = &thread->parcel;
	__u64 wake = thread->wakes ? BPF_RB_FORCE_WAKEUP : wake_flags();
	int outcome;

	parcel->group = (__u32)argument(ctx, 0);
	parcel->data = (const void *)argument(ctx, 3);
	parcel->instance = argument(ctx, 4);
	read_graph_call(ctx, &thread->call);
#if defined(__TARGET_ARCH_x86)
	if (stacks_are_copied)
		send_stack_copy(ctx, parcel, &thread->ends, &thread->call);
#endif
	outcome = send_stack(ctx, thread, (__u32)argument(ctx, 1), (__u32)argument(ctx, 2), wake);
	if (outcome == SENT)
		thread->wakes = 0;
	return outcome;
}

SEC("usdt")
int stack(struct pt_regs *ctx)
{
	__u64 start = bpf_ktime_get_ns();
	struct stack_thread *thread = bpf_task_storage_get(
		&stack_threads, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	keep_own_stack(ctx);
	/* No memory. */
	if (!thread) {
		struct parcel parcel;

		if (identify(&parcel))
			count_stack(UNREADABLE, start);
		return 0;
	}
	if (!identify_stack_thread(thread))
		return 0;
	thread->parcel.time = start;
	count_stack(send_thread_stack(ctx, thread), start);
	return 0;
}

#endif
