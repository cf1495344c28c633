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

#include "libcupti-usdt/stack_probes.h"

#define PYTHON_INTERPRETERS 4
#define PYTHON_THREADS	    128

struct code_key {
	__u32 pid;
	__u32 pad;
	__u64 code;
	__u64 key;
};

/* Code objects that the tool was told of. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct code_key);
	__type(value, __u8);
} codes SEC(".maps");

static __always_inline __u64 read_word(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	return value;
}

static __always_inline __u32 read_half(__u64 address)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	return value;
}

static __always_inline __u8 read_byte(__u64 address)
{
	__u8 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	return value;
}

/* A str at `object`: bytes read, and in *width its bytes a character. */
static __noinline __u32 read_text(__u8 *to, __u32 room, __u32 *width,
				  const struct cuda_python *python, __u64 object)
{
	__u32 state = read_half(object + python->unicode_state);
	__u64 bytes = read_word(object + python->unicode_length);
	__u64 from = object + (state >> 6 & 1 ? python->unicode_ascii : python->unicode_compact);
	__u32 kind = state >> 2 & 7;

	*width = 0;
	if (kind != 1 && kind != 2 && kind != 4)
		return 0;
	bytes = bytes < CODE_FILE_LEN ? bytes * kind : CODE_FILE_LEN;
	if (bytes > room)
		bytes = room;
	bytes &= 1023;
	if (bytes > CODE_FILE_LEN || bpf_probe_read_user(to, bytes, (const void *)from))
		return 0;
	*width = kind;
	return bytes;
}

#define SEND_CODE_IN_CLASS(size)                                                        \
	do {                                                                            \
		if (bytes > (size))                                                     \
			break;                                                          \
		e = bpf_ringbuf_reserve(&events, sizeof(*e) + sizeof(*to) + (size), 0); \
		if (!e)                                                                 \
			return RING_FULL;                                               \
		address(e, parcel);                                                     \
		to = (void *)e->data;                                                   \
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

/* Tells the tool about a code object, once. False: there was no room. */
static __always_inline bool tell_code(const struct parcel *parcel, const struct cuda_python *python,
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

/* The interpreter's state of this thread; 0 = it has none. Not static: see send_code(). */
__noinline __u64 python_thread(const struct cuda_python *python, __u32 tid)
{
	__u64 interpreter;

	if (!python)
		return 0;
	interpreter = read_word(python->runtime + python->interpreters_head);
	for (int i = 0; i < PYTHON_INTERPRETERS && interpreter; i++) {
		__u64 thread = read_word(interpreter + python->threads_head);

		for (int j = 0; j < PYTHON_THREADS && thread; j++) {
			if (read_word(thread + python->thread_native_id) == tid)
				return thread;
			thread = read_word(thread + python->thread_next);
		}
		interpreter = read_word(interpreter + python->interpreter_next);
	}
	return 0;
}

static __always_inline __u64 innermost_frame(const struct cuda_python *python, __u64 thread)
{
	if (python->thread_cframe != CUDA_PYTHON_NONE)
		thread = read_word(thread + python->thread_cframe);
	return thread ? read_word(thread + python->current_frame) : 0;
}

static __always_inline void read_frame(const struct cuda_python *python, __u64 from,
				       struct stack_python_frame *frame)
{
	__u64 file = read_word(frame->code + python->code_filename);
	__u64 name = read_word(frame->code + python->code_qualname);
	__u64 instruction = read_word(from + python->frame_instruction);

	frame->key = file ^ (name << 24 | name >> 40) ^
		     (__u64)read_half(frame->code + python->code_firstlineno) << 44;
	frame->instruction = instruction - frame->code - python->code_instructions;
	frame->entry =
		python->frame_entry != CUDA_PYTHON_NONE && read_byte(from + python->frame_entry);
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

		/* A shim takes a place, too: with a count of its own the verifier would have to
		 * look at every number of shims among every number of frames. */
		if (read_byte(at + python->frame_owner) != python->owner_shim) {
			frame.code = read_word(at + python->frame_code);
			if (!frame.code) {
				stack->python = STACK_PYTHON_BROKEN;
				break;
			}
			read_frame(python, at, &frame);
			if (!tell_code(parcel, python, &frame))
				return RING_FULL;
		}
		stack->python_frames[n] = frame;
		at = read_word(at + python->frame_previous);
	}
	if (at && stack->python == STACK_PYTHON_WALKED)
		stack->python = STACK_PYTHON_CUT;
	stack->frames = n;
	return SENT;
}

static __always_inline void read_addresses(struct pt_regs *ctx, struct event_stack *stack)
{
	long bytes =
		bpf_get_stack(ctx, stack->addresses, sizeof(stack->addresses), BPF_F_USER_STACK);

	stack->depth = bytes > 0 ? bytes / sizeof(stack->addresses[0]) : 0;
}

static __always_inline void count_stack(int outcome, __u64 ns)
{
	struct stream_counters *counter = this_cpu_counters();

	if (!counter)
		return;
	count_up(&counter->stack_ns, ns);
	count_up(outcome == SENT	? &counter->stacks
		 : outcome == RING_FULL ? &counter->stacks_ring_full
					: &counter->stacks_unreadable,
		 1);
}

/* Fills what was reserved; `python` NULL = there is none, and no room for its frames. */
static __always_inline int fill_stack(struct pt_regs *ctx, struct event *e,
				      const struct parcel *parcel, const struct cuda_python *python,
				      __u32 tid, __u32 context)
{
	struct event_stack *stack = (void *)e->data;
	int outcome = SENT;

	address(e, parcel);
	stack->correlation = parcel->group;
	stack->tid = tid;
	stack->context = context;
	stack->period = probe_value(ctx);
	stack->frames = 0;
	stack->python = STACK_PYTHON_NONE;
	read_addresses(ctx, stack);
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
static __always_inline __u64 stack_wake_flags(__u32 pid)
{
	struct code_key key = {.pid = pid};
	__u8 one = 1;

	if (bpf_map_lookup_elem(&codes, &key))
		return wake_flags();
	bpf_map_update_elem(&codes, &key, &one, BPF_ANY);
	return BPF_RB_FORCE_WAKEUP;
}

#define SEND_STACK(size, python)                                              \
	do {                                                                  \
		e = bpf_ringbuf_reserve(&events, (size), 0);                  \
		if (!e)                                                       \
			return RING_FULL;                                     \
		outcome = fill_stack(ctx, e, parcel, (python), tid, context); \
		if (outcome == SENT)                                          \
			bpf_ringbuf_submit(e, stack_wake_flags(parcel->pid)); \
		else                                                          \
			bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);             \
	} while (0)

static __always_inline int send_stack(struct pt_regs *ctx, const struct parcel *parcel, __u32 tid,
				      __u32 context)
{
	struct cuda_python python = {};
	struct event *e;
	int outcome;

	if (parcel->data && !bpf_probe_read_user(&python, sizeof(python), parcel->data) &&
	    python.runtime)
		SEND_STACK(STACK_WITH_PYTHON, &python);
	else
		SEND_STACK(STACK_WITHOUT_PYTHON, NULL);
	return outcome;
}

SEC("usdt")
int stack(struct pt_regs *ctx)
{
	__u64 start = bpf_ktime_get_ns();
	struct parcel parcel;
	__u32 tid, context;
	int outcome;

	if (!identify(&parcel))
		return 0;
	parcel.kind = EVENT_STACK;
	parcel.group = (__u32)argument(ctx, 0);
	tid = (__u32)argument(ctx, 1);
	context = (__u32)argument(ctx, 2);
	parcel.data = (const void *)argument(ctx, 3);
	parcel.instance = argument(ctx, 4);
	outcome = send_stack(ctx, &parcel, tid, context);
	count_stack(outcome, bpf_ktime_get_ns() - start);
	return 0;
}

#endif
