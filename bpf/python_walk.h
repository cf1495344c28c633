/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads CPython's objects in the present process: its thread, frames and texts. See stacks.h for
 * why that is safe.
 */
#ifndef BPF_PYTHON_WALK_H
#define BPF_PYTHON_WALK_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "bpf/event.h"
#include "bpf/filter.h"
#include "libcupti-usdt/stack_probes.h"

#define PYTHON_INTERPRETERS 4
#define PYTHON_THREADS	    128

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
static __noinline __attribute__((unused)) __u32
read_text(__u8 *to, __u32 capacity, __u32 *width, const struct cuda_python *python, __u64 object)
{
	__u32 state = read_half(object + python->unicode_state);
	__u64 bytes = read_word(object + python->unicode_length);
	__u32 bits = state >> (python->unicode_kind & 31), kind = bits & 7;
	__u64 from = object + (bits >> 4 & 1 ? python->unicode_ascii : python->unicode_compact);

	*width = 0;
	if (kind != 1 && kind != 2 && kind != 4)
		return 0;
	bytes = bytes < CODE_FILE_LEN ? bytes * kind : CODE_FILE_LEN;
	if (bytes > capacity)
		bytes = capacity;
	bytes &= 1023;
	if (bytes > CODE_FILE_LEN || bpf_probe_read_user(to, bytes, (const void *)from))
		return 0;
	*width = kind;
	return bytes;
}

/* pthread_self() of the present thread. */
static __always_inline __u64 pthread_of(const struct cuda_python *python)
{
	struct task_struct *task = (void *)bpf_get_current_task();

#if defined(__TARGET_ARCH_arm64)
	return BPF_CORE_READ(task, thread.uw.tp_value) + (__s64)python->pthread_offset;
#else
	return BPF_CORE_READ(task, thread.fsbase) + (__s64)python->pthread_offset;
#endif
}

/* The interpreter's state of this thread, the present one; 0 = it has none. Not static: the
 * verifier looks at it once. */
__noinline __u64 python_thread(const struct cuda_python *python, __u32 tid)
{
	__u64 interpreter, wanted = tid;
	__u32 field;

	if (!python)
		return 0;
	field = python->thread_native_id;
	if (field == CUDA_PYTHON_NONE) {
		field = python->thread_pthread;
		wanted = pthread_of(python);
	}
	interpreter = read_word(python->runtime + python->interpreters_head);
	for (int i = 0; i < PYTHON_INTERPRETERS && interpreter; i++) {
		__u64 thread = read_word(interpreter + python->threads_head);

		for (int j = 0; j < PYTHON_THREADS && thread; j++) {
			if (read_word(thread + field) == wanted)
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

/* Does this frame stand for a call of the evaluation loop, and has no code? */
static __always_inline bool is_shim(const struct cuda_python *python, __u64 frame)
{
	return python->frame_owner != CUDA_PYTHON_NONE &&
	       read_byte(frame + python->frame_owner) >= python->owner_shim;
}

static __always_inline __u64 code_of(const struct cuda_python *python, __u64 frame)
{
	return read_word(frame + python->frame_code) & ~7ul;
}

/* Where the bytecode begins that the frame executes: free-threaded builds make copies. */
static __always_inline __u64 bytecode_of(const struct cuda_python *python, __u64 frame, __u64 code)
{
	__u32 number = 0;

	if (python->frame_copy != CUDA_PYTHON_NONE)
		number = read_half(frame + python->frame_copy);
	if (!number)
		return code + python->code_instructions;
	return read_word(read_word(code + python->code_copies) + sizeof(__u64) * (number + 1ul));
}

/* Bytes from the first instruction on. */
static __always_inline __s32 instruction_of(const struct cuda_python *python, __u64 frame,
					    __u64 code)
{
	__u64 at = frame + python->frame_instruction;

	if (python->instruction_unit)
		return (__s32)read_half(at) * python->instruction_unit;
	return read_word(at) - bytecode_of(python, frame, code);
}

static __always_inline void read_frame(const struct cuda_python *python, __u64 from,
				       struct stack_python_frame *frame)
{
	__u64 file = read_word(frame->code + python->code_filename);
	__u64 name = read_word(frame->code + python->code_qualname);

	frame->key = file ^ (name << 24 | name >> 40) ^
		     (__u64)read_half(frame->code + python->code_firstlineno) << 44;
	frame->instruction = instruction_of(python, from, frame->code);
	frame->entry = python->instruction_unit || (python->frame_entry != CUDA_PYTHON_NONE &&
						    read_byte(from + python->frame_entry));
}

#endif
