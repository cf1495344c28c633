/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How programs at the agent's probes are reached, and how they get the arguments. Included once by
 * each .bpf.c that has such programs.
 *
 * The probes of a file hang on one uprobe_multi link (Linux 6.6): a link of each probe's own takes
 * some 100 ms to make and 300 ms to remove. A link has one program, so that is a switchboard; its
 * cookie is the number of the program to go on with, and a value for it. The arguments lie in the
 * registers of a call, as the contract says (libcupti-usdt/probes.h), and the tool has seen to it.
 * Older kernels get a link for each probe, with its program and the same cookie.
 */
#ifndef BPF_ARGUMENTS_H
#define BPF_ARGUMENTS_H

#include "bpf/filter.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, PROBE_PROGRAMS);
	__type(key, __u32);
	__type(value, __u32);
} probe_programs SEC(".maps");

/*
 * Processes with links of their own, when settings.by_link, each with a number that is never used
 * twice. The tool adds, an end removes; so does what takes a link its process, which the kernel
 * knows by its first thread: an exec by another one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} linked SEC(".maps");

static __always_inline bool comes_by_its_link(__u64 cookie)
{
	__u32 pid = this_process(), whose = (__u32)cookie & ~PROBE_NUMBER;
	__u64 *number = bpf_map_lookup_elem(&linked, &pid);

	return !whose ||
	       whose == (number ? PROBE_OF_LINKED | PROBE_LINK(*number) : PROBE_OF_OTHERS);
}

SEC("uprobe")
int probe_switchboard(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	keep_own_stack(ctx);
	if (!settings.by_link || comes_by_its_link(cookie))
		bpf_tail_call(ctx, &probe_programs, (__u32)cookie & PROBE_NUMBER);
	return 0;
}

/* One instruction, lest the compiler computes the address apart: the verifier lets nobody read
 * through a pointer that it has changed. */
#define REGISTER(ctx, name)                                                                  \
	({                                                                                   \
		__u64 value;                                                                 \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                                        \
			     : "=r"(value)                                                   \
			     : "r"(ctx),                                                     \
			       "i"(__builtin_offsetof(typeof(*__PT_REGS_CAST(ctx)), name))); \
		value;                                                                       \
	})

#if !defined(__PT_PARM6_REG) && defined(__TARGET_ARCH_x86)
#define __PT_PARM6_REG r9 /* libbpf before 1.2 has five */
#elif !defined(__PT_PARM6_REG)
#define __PT_PARM6_REG regs[5]
#endif

/* Those of 4 bytes may have anything in their upper half. */
static __always_inline __u64 argument(struct pt_regs *ctx, const int n)
{
	switch (n) {
	case 0:
		return REGISTER(ctx, __PT_PARM1_REG);
	case 1:
		return REGISTER(ctx, __PT_PARM2_REG);
	case 2:
		return REGISTER(ctx, __PT_PARM3_REG);
	case 3:
		return REGISTER(ctx, __PT_PARM4_REG);
	case 4:
		return REGISTER(ctx, __PT_PARM5_REG);
	case 5:
		return REGISTER(ctx, __PT_PARM6_REG);
	}
	return 0;
}

/* What the tool had to tell about this probe. */
static __always_inline __u32 probe_value(struct pt_regs *ctx)
{
	return bpf_get_attach_cookie(ctx) >> 32;
}

#endif
