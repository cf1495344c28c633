/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes the points of bpf/gpu_busy.h belong to. Each process has two lines of words for
 * each GPU, and marks the points that its work covers in the first while the work is young, in the
 * second from then on (bpf/time_slice.h). The reader takes words that are old enough, and divides
 * each point among the processes that have it (cuda-trace/live/live_shares.c). What comes for
 * words that are taken already is the process's alone where nobody had the point, and nobody's
 * otherwise: all shares together are the points that were counted. Included once, by
 * bpf/gpu_busy.h.
 */
#ifndef BPF_GPU_SHARES_H
#define BPF_GPU_SHARES_H

#include "bpf/tally.h"

/* The reader makes it as large as it wants it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} share_words SEC(".maps");

__u64 share_owners[AGGREGATE_SHARES]; /* AGGREGATE_SHARE_OWNER; the reader frees them */
__u64 share_points[AGGREGATE_SHARES]; /* not in words; only their growth matters */
__u64 share_taken;		      /* words before it are the reader's */
__u64 share_late;		      /* points that came for such words, and that others had */

static __always_inline __u32 modulo_shares(__u32 line)
{
	return line < AGGREGATE_SHARES ? line : 0;
}

/* Of old work, the line is AGGREGATE_SHARES further on. Global, as bpf/tally_records.h explains. */
__attribute__((noinline)) int mark_share(__u32 line, __u64 word, __u32 mask, __u32 fresh)
{
	__u32 at = line * AGGREGATE_WORDS + modulo(word, AGGREGATE_WORDS);
	__u64 *entry;

	if (word < share_taken) {
		if (line >= AGGREGATE_SHARES)
			line -= AGGREGATE_SHARES;
		count_up(&share_points[modulo_shares(line)], fresh);
		count_up(&share_late, __builtin_popcount(mask) - fresh);
		return 0;
	}
	entry = bpf_map_lookup_elem(&share_words, &at);
	if (entry)
		mark_entry(entry, word, mask);
	return 0;
}

/* The line of a process on a GPU + 1; 0 = none is free. */
__attribute__((noinline)) int number_share(__u32 serial, __u32 slot, __u32 gpu)
{
	__u64 owner = AGGREGATE_SHARE_OWNER(serial, slot, gpu);

	if (!aggregate_settings.shares)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 line = 0; line < AGGREGATE_SHARES; line++)
		if (share_owners[line] == owner)
			return line + 1;
#pragma clang loop unroll(disable)
	for (__u32 line = AGGREGATE_DEVICES; line < AGGREGATE_SHARES; line++)
		if (!share_owners[line] &&
		    !__sync_val_compare_and_swap(&share_owners[line], 0, owner))
			return line + 1;
	return 0;
}

/* + 1; those without one share the first lines. */
static __always_inline __u32 share_line(const struct aggregate_process *process, __u32 device,
					__u32 gpu)
{
	__u32 line = process->share_of[modulo(device, AGGREGATE_DEVICES)];

	if (!aggregate_settings.shares)
		return 0;
	return line ? line : gpu + 1;
}

#endif
