/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the present thread does in Python: its innermost frame, and whether it waits for the GIL.
 * Included once, by idle.bpf.c.
 */
#ifndef BPF_IDLE_PYTHON_H
#define BPF_IDLE_PYTHON_H

#include "bpf/bounds.h"
#include "bpf/idle.h"
#include "bpf/interpreters.h"
#include "bpf/python_walk.h"
#include "libcupti-usdt/agent_memory.h"

/* Python functions that frames are of. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2048);
	__type(key, struct idle_code_key);
	__type(value, struct idle_code);
} codes SEC(".maps");

/* Both are too large for the stack of a program. No program that uses them interrupts another. */
struct python_work {
	struct cuda_interpreter interpreter;
	struct cuda_python python;
	struct idle_code code;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_work);
} python_work SEC(".maps");

/* NULL: no interpreter is known in the present process. */
static __always_inline struct python_work *find_python(__u32 pid)
{
	const __u64 *at = bpf_map_lookup_elem(&interpreters, &pid);
	__u32 zero = 0;
	struct python_work *work = at ? bpf_map_lookup_elem(&python_work, &zero) : NULL;

	if (!work ||
	    bpf_probe_read_user(&work->interpreter, sizeof(work->interpreter), (const void *)*at))
		return NULL;
	return work;
}

static __always_inline void keep_code(struct python_work *work, const struct idle_code_key *key,
				      const struct idle_frame *frame)
{
	const struct event_code *kept = bpf_map_lookup_elem(&codes, key);
	struct event_code *to = (void *)&work->code;
	const struct cuda_python *python = &work->python;
	__u64 table, bytes;
	__u32 width;

	if (kept && kept->key == frame->key)
		return;
	to->code = frame->code;
	to->key = frame->key;
	to->version = python->version;
	to->first_line = read_half(frame->code + python->code_firstlineno);
	to->file_bytes = read_text(to->file, CODE_FILE_LEN, &width, python,
				   read_word(frame->code + python->code_filename));
	to->file_width = width;
	to->name_bytes = read_text(to->name, CODE_NAME_LEN, &width, python,
				   read_word(frame->code + python->code_qualname));
	to->name_width = width;
	table = read_word(frame->code + python->code_linetable);
	bytes = at_most(read_word(table + python->bytes_size), IDLE_TABLE_MAX);
	if (bpf_probe_read_user(to->table, bytes, (const void *)(table + python->bytes_data)))
		bytes = 0;
	to->table_bytes = bytes;
	bpf_map_update_elem(&codes, key, &work->code, BPF_ANY);
}

/* Of the present thread, which does not change it meanwhile. */
static __always_inline void find_frame(struct python_work *work, __u32 pid, __u32 tid,
				       struct idle_frame *out)
{
	struct cuda_python *python = &work->python;
	struct idle_code_key key = {.pid = pid};
	struct stack_python_frame frame = {};
	__u64 thread, at;

	if (!work->interpreter.frames ||
	    bpf_probe_read_user(python, sizeof(*python), (const void *)work->interpreter.frames) ||
	    python->size != sizeof(*python) || python->runtime != work->interpreter.runtime)
		return;
	thread = python_thread(python, tid);
	at = thread ? innermost_frame(python, thread) : 0;
	/* Frames without code: since 3.14, two of them are below the outermost function. */
	for (int i = 0; i < 2 && at && is_shim(python, at); i++)
		at = read_word(at + python->frame_previous);
	frame.code = at && !is_shim(python, at) ? code_of(python, at) : 0;
	if (!frame.code)
		return;
	read_frame(python, at, &frame);
	out->code = key.code = frame.code;
	out->key = frame.key;
	out->instruction = frame.instruction;
	keep_code(work, &key, out);
}

static __always_inline bool is_gil(const struct python_work *work, __u64 address)
{
	return address - work->interpreter.runtime < work->interpreter.bytes;
}

#endif
