/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bounds that older verifiers believe. To that of Linux 6.1 what a comparison says of a register is
 * not known of the copy of it that lies on the stack, and the compiler compares the one and goes on
 * with the other; nor are the bounds known of what XOR makes of two bounded values. So a bound is
 * said once more, of a register, where it is needed.
 */
#ifndef BPF_BOUNDS_H
#define BPF_BOUNDS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u64 at_most(__u64 value, const __u64 most)
{
	/* Lest the compiler knows it already. */
	asm volatile("" : "+r"(value));
	return value > most ? most : value;
}

/* Of a power of two; what is beyond comes back from below. */
static __always_inline __u64 modulo(__u64 value, const __u64 size)
{
	asm volatile("" : "+r"(value));
	return value & (size - 1);
}

#endif
