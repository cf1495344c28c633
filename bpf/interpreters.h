/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stream.bpf.c fills it, and idle.bpf.c, which the tool gives the same map, reads it. */
#ifndef BPF_INTERPRETERS_H
#define BPF_INTERPRETERS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Where the agent of a process says what it knows of CPython there: the address of its struct
 * cuda_interpreter. By the tool's numbers; a fork adds, an end or an exec removes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} interpreters SEC(".maps");

#endif
