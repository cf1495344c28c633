/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of contract 1: probes that stop a launching thread at its launch, for who wants its stack,
 * and what they report of Python. Included by the agent, bpf/ and cuda-trace/, shipped to others.
 *
 *   cuda:stack_1 ... cuda:stack_10000 (u32 correlation, u32 tid, u32 context,
 *                                      const struct cuda_python *, u64 instance,
 *                                      const struct cuda_graph_call *)
 *     One each for one in 1, 10, 100, 1000 and 10000 driver-API launches of each thread, at random
 *     distances around that. The call has returned to CUPTI and not yet to the program. The fourth
 *     argument says where a Python interpreter of the process keeps its frames; 0 = none is known.
 *     While graph_nodes_batch is listened to, also each call that created a node of a graph or
 *     gave one another kernel; the last argument, otherwise 0, says when that call was made.
 */
#ifndef LIBCUPTI_USDT_STACK_PROBES_H
#define LIBCUPTI_USDT_STACK_PROBES_H

#include <linux/types.h>

/* X(probe, one in so many launches of a thread) */
#define CUDA_STACK_PROBES(X) \
	X(stack_1, 1)        \
	X(stack_10, 10)      \
	X(stack_100, 100)    \
	X(stack_1000, 1000)  \
	X(stack_10000, 10000)

/*
 * How to walk the frames of CPython 3.8 to 3.15: threads of interpreters form lists from `runtime`
 * on; the thread is the one whose native_thread_id is the probe's tid, or whose thread_pthread is
 * its pthread_self(); its frames form a list from the innermost one on. Offsets are in bytes.
 * CUDA_PYTHON_NONE: this version has no such field. The lowest three bits of a pointer to code are
 * not part of it.
 */
struct cuda_python {
	__u32 size;    /* of this structure */
	__u32 version; /* as Py_Version has it: 0x030b02f0 is 3.11.2 */
	__u64 runtime; /* address of _PyRuntime */
	__u16 interpreters_head, interpreter_next, threads_head; /* head: in runtime, interpreter */
	__u16 thread_next, thread_native_id;
	__u16 thread_cframe; /* pointer to what holds current_frame; none: the thread itself does */
	__u16 current_frame;
	__u16 frame_code, frame_previous, frame_instruction, frame_owner;
	__u16 frame_entry; /* 1 byte: the first frame of a call of the evaluation loop */
	__u16 owner_shim;  /* frame_owner of frames without code is that, or greater */
	__u16 code_filename, code_qualname, code_linetable, code_firstlineno, code_instructions;
	__u16 unicode_length, unicode_state;  /* of str: characters; see unicode_kind */
	__u16 unicode_ascii, unicode_compact; /* the characters, of ASCII ones and of others */
	__u16 bytes_size, bytes_data;
	__u16 thread_pthread; /* pthread_self(); before 3.11, which has no native_thread_id */
	/* 0: frame_instruction is an address. Otherwise 4 bytes, in units of so many bytes. */
	__u16 instruction_unit;
	/* The first bit of unicode_state that says how many bytes a character has: three bits, one
	 * of no interest, and one that is 1 for ASCII. */
	__u16 unicode_kind;
	__u16 frame_copy;  /* 4 bytes: which copy of the bytecode is executed; 0: the code's own */
	__u16 code_copies; /* pointer to 8 bytes, the number of copies, and their addresses */
	__u16 unused;
	__s32 pthread_offset; /* pthread_self() minus the thread pointer (x86-64: the base of fs) */
};
#define CUDA_PYTHON_NONE 0xffff

/* What the call did to nodes of graphs has a time in between (struct cuda_graph_node). */
struct cuda_graph_call {
	__u64 size;  /* of this structure */
	__u64 start; /* ns */
	__u64 end;   /* ns */
};

#ifdef __cplusplus
static_assert(sizeof(struct cuda_python) == 80, "wire layout");
static_assert(sizeof(struct cuda_graph_call) == 24, "wire layout");
#else
_Static_assert(sizeof(struct cuda_python) == 80, "wire layout");
_Static_assert(sizeof(struct cuda_graph_call) == 24, "wire layout");
#endif

#endif
