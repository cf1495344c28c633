/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What cuda-trace reads in the memory of a process: laid out by the agent, read by eBPF and the
 * tool, which believe nothing of it. Not installed.
 */
#ifndef CUDA_TRACE_AGENT_MEMORY_H
#define CUDA_TRACE_AGENT_MEMORY_H

#include <linux/types.h>

/* At the semaphore of cuda:sandboxed. */
struct cuda_sandbox {
	__u16 semaphore;
	__u16 pad;
	__u32 filters; /* seccomp filters at the start + 1; 0 = not started, ~0 = unknown */
};

/* Rings of records that are not sent yet, for who looks at a process as it is killed: of each, at
 * its start, what was put in, and at `taken` what was taken out and how many more were sent. Its
 * address is in struct cuda_status. */
struct cuda_ledger {
	__u64 rings; /* address of the first one */
	__u32 bytes; /* of each */
	__u32 count;
	__u32 taken; /* offset of two __u32 */
	__u32 pad;
};
#define CUDA_LEDGER_RINGS 88 /* at most */

/* CPython, where it is loaded. Its address is in struct cuda_status. */
struct cuda_interpreter {
	__u64 runtime; /* address of _PyRuntime, which contains the main interpreter and its GIL */
	__u64 bytes;   /* of that; 0 = not known */
	__u64 frames; /* address of a struct cuda_python; 0 = this version's frames are not known */
};

#ifndef __cplusplus
_Static_assert(sizeof(struct cuda_sandbox) == 8 && sizeof(struct cuda_ledger) == 24 &&
		       sizeof(struct cuda_interpreter) == 24,
	       "layout");
#endif

#endif
