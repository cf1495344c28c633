/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What return probes change on a stack: each, whoever has set it, puts the address of the kernel's
 * trampoline in the place of the return address. The kernel keeps a list of these for the thread.
 */
#ifndef BPF_RETURN_PROBES_H
#define BPF_RETURN_PROBES_H

#include "bpf/bounds.h"
#include "bpf/filter.h"

#if defined(__TARGET_ARCH_x86)

struct return_instance___saved {
	unsigned long stack; /* where the address was */
	unsigned long orig_ret_vaddr;
	struct return_instance___saved *next;
} __attribute__((preserve_access_index));

struct uprobe_task___saved {
	struct return_instance___saved *return_instances;
} __attribute__((preserve_access_index));

struct task_struct___saved {
	struct uprobe_task___saved *utask;
} __attribute__((preserve_access_index));

#define RETURN_PROBES 8

/* Of the present thread, the innermost first; NULL = none. */
static __always_inline struct return_instance___saved *saved_returns(void)
{
	struct task_struct___saved *task = (void *)bpf_get_current_task_btf();

	/* Read directly, without a helper: each stack pays for it. */
	return task->utask ? task->utask->return_instances : NULL;
}

/* Puts them back into what was read of the stack, from this address on. Of several in one place,
 * the last has the address of the caller. */
static __always_inline void restore_returns(struct return_instance___saved *saved, void *read,
					    __u64 bytes, __u64 from, const __u64 size)
{
	for (int i = 0; i < RETURN_PROBES && saved; i++) {
		__u64 offset = BPF_CORE_READ(saved, stack) - from;

		if (offset < bytes && bytes - offset >= 8)
			*(__u64 *)(read + at_most(offset, size - 8)) =
				BPF_CORE_READ(saved, orig_ret_vaddr);
		saved = BPF_CORE_READ(saved, next);
	}
}

#endif

#endif
