/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long each GPU was busy: the union over all processes. Records come by process, up to some
 * 100 ms late, so that no order of arrival can be relied on. Therefore each GPU has points in time,
 * one at a random place in each 32.8 us, that are marked once, by whichever record comes first of
 * those that cover it. The part of the points that is marked is the part of the time: on average
 * exactly, for one second with an error of some 0.3 %. Most kernels are short and cover no point.
 *
 * The ring of points is 4.3 s long. What is older than 1 s when a record ends is not marked, but
 * counted from the end of what was counted before. What is older than the ring is not counted.
 * Included once, by bpf/aggregate.bpf.c.
 */
#ifndef BPF_GPU_BUSY_H
#define BPF_GPU_BUSY_H

#include "bpf/tally.h"
#include "bpf/time_slice.h"

#define BUSY_WORDS     AGGREGATE_WORDS
#define BUSY_WORD_BITS AGGREGATE_WORD_BITS
#define BUSY_REACH     (1024ull << BUSY_WORD_BITS) /* points that one record marks */
#define BUSY_TRIES     16
#define BUSY_FUTURE    1000000000ull /* ns: no clock is so wrong */

_Static_assert(1ull << AGGREGATE_TURN_BITS == (__u64)BUSY_WORDS
						      << (BUSY_WORD_BITS + AGGREGATE_POINT_BITS),
	       "a tag is a turn of the ring");

/* The upper half says which turn of the ring, the lower has a bit for each point. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, AGGREGATE_LINES *BUSY_WORDS);
	__type(key, __u32);
	__type(value, __u64);
} busy_words SEC(".maps");

/* The GPU's number here, by its UUID. They stay. */
struct gpu_key {
	__u8 uuid[16];
};
TABLE(gpu_numbers, BPF_MAP_TYPE_HASH, struct gpu_key, __u32, AGGREGATE_DEVICES);
__u32 last_gpu;

__u64 gpu_points[AGGREGATE_LINES];	 /* that were marked; only their growth matters */
static __u64 gpu_until[AGGREGATE_LINES]; /* the end of what was counted: a point's number */

/* Where in its stretch the point lies: programs that repeat themselves are not in step with it. */
static __always_inline __u64 point_time(__u64 point)
{
	__u32 hash = (__u32)point * 2654435761u;

	hash ^= hash >> 15;
	hash *= 2246822519u;
	return (point << AGGREGATE_POINT_BITS) + (hash >> 7 & ((1 << AGGREGATE_POINT_BITS) - 1));
}

/* The first point that is not before this time. */
static __always_inline __u64 point_from(__u64 time)
{
	__u64 point = time >> AGGREGATE_POINT_BITS;

	return point_time(point) < time ? point + 1 : point;
}

static __always_inline __u32 mark_entry(__u64 *entry, __u64 word, __u32 mask)
{
	__u32 turn = word / BUSY_WORDS;

#pragma clang loop unroll(disable)
	for (int i = 0; i < BUSY_TRIES; i++) {
		__u64 before = *entry, after;
		__u32 marked = before >> 32 == turn ? (__u32)before : 0;

		if ((__s32)((__u32)(before >> 32) - turn) > 0)
			return 0;
		after = (__u64)turn << 32 | marked | mask;
		if (after == before)
			return 0;
		if (__sync_val_compare_and_swap(entry, before, after) == before)
			return __builtin_popcount(mask & ~marked);
	}
	return 0;
}

/* How many points of a word are new. */
static __always_inline __u32 mark_word(__u32 line, __u64 word, __u32 mask)
{
	__u32 at = modulo(line, AGGREGATE_LINES) * BUSY_WORDS + modulo(word, BUSY_WORDS);
	__u64 *entry = bpf_map_lookup_elem(&busy_words, &at);

	return entry ? mark_entry(entry, word, mask) : 0;
}

#include "bpf/gpu_shares.h"

/* The points from first to last - 1 that are in this word, which has some: how many are new.
 * Global, as mark_points() is: see bpf/tally_records.h. */
__attribute__((noinline)) int mark_part(__u32 line, __u64 first, __u64 last, __u32 share,
					__u64 word)
{
	__u64 begins = word << BUSY_WORD_BITS;
	__u32 mask = ~0u, fresh;

	if (first > begins)
		mask <<= (first - begins) & 31;
	if (last - begins < 32)
		mask &= ~(~0u << ((last - begins) & 31));
	fresh = mark_word(line, word, mask);
	if (share)
		mark_share(share - 1, word, mask, fresh);
	return fresh;
}

/* Points first to last - 1. share: the line of who marks them + 1, or 0; see mark_share(). */
__attribute__((noinline)) int mark_points(__u32 line, __u64 first, __u64 last, __u32 share)
{
	__u32 new = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i <= BUSY_REACH >> BUSY_WORD_BITS; i++) {
		__u64 word = (first >> BUSY_WORD_BITS) + i;

		if (word << BUSY_WORD_BITS >= last)
			break;
		new += mark_part(line, first, last, share, word);
	}
	return new;
}

/* Points before what one record marks. */
static __always_inline __u64 count_old(__u64 until, __u64 first, __u64 last)
{
	if (until > first)
		first = until;
	return last > first ? last - first : 0;
}

static __always_inline void raise_until(__u64 *until, __u64 point)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < BUSY_TRIES; i++) {
		__u64 before = *until;

		if (point <= before || __sync_val_compare_and_swap(until, before, point) == before)
			return;
	}
}

/* Points from `aged` on are those of old work. */
static __always_inline __u32 mark_ages(__u32 line, __u64 first, __u64 last, __u64 aged, __u32 share)
{
	__u32 new = 0;

	if (!share || aged >= last)
		return mark_points(line, first, last, share);
	if (aged > first) {
		new = mark_points(line, first, aged, share);
		first = aged;
	}
	return new + (__u32)mark_points(line, first, last, share + AGGREGATE_SHARES);
}

static __always_inline void mark_line(__u32 line, __u64 first, __u64 last, __u64 aged, __u32 share)
{
	__u64 *until, *points, fresh = last > BUSY_REACH ? last - BUSY_REACH : 0, old = 0;

	line = modulo(line, AGGREGATE_LINES);
	until = &gpu_until[line];
	points = &gpu_points[line];
	if (first < fresh) {
		old = count_old(*until, first, fresh);
		first = fresh;
	}
	count_up(points, old + mark_ages(line, first, last, aged, share));
	if (share && old)
		count_up(&share_points[modulo_shares(share - 1)], old);
	raise_until(until, last);
}

/* What work is: copies have a line of their own, too, and kernels become old. */
enum busy_work { BUSY_KERNEL, BUSY_COPY, BUSY_SET };

/* Work on a GPU, of the process that numbers it so. */
static __always_inline void mark_busy(const struct aggregate_process *process, __u32 device,
				      __u64 start, __u64 end, enum busy_work work)
{
	__u64 first = point_from(start), last = point_from(end), aged = ~0ull;
	__u32 gpu;

	if (first >= last || device >= AGGREGATE_DEVICES)
		return;
	gpu = process->gpu_of[modulo(device, AGGREGATE_DEVICES)];
	if (!gpu || end > bpf_ktime_get_ns() + BUSY_FUTURE)
		return;
	gpu = modulo(gpu - 1, AGGREGATE_DEVICES);
	if (work == BUSY_KERNEL && end - start > TIME_SLICE_NS)
		aged = point_from(start + TIME_SLICE_NS);
	mark_line(AGGREGATE_BUSY_LINE(gpu), first, last, aged, share_line(process, device, gpu));
	if (work == BUSY_COPY)
		mark_line(AGGREGATE_COPY_LINE(gpu), first, last, ~0ull, 0);
}

/* 0 = none is left. */
static __always_inline __u32 number_gpu(const struct gpu_key *key)
{
	__u32 *known = bpf_map_lookup_elem(&gpu_numbers, key), number;

	if (known)
		return *known;
	if (last_gpu >= AGGREGATE_DEVICES)
		return 0;
	number = __sync_fetch_and_add(&last_gpu, 1) + 1;
	if (number > AGGREGATE_DEVICES)
		return 0;
	bpf_map_update_elem(&gpu_numbers, key, &number, BPF_NOEXIST);
	known = bpf_map_lookup_elem(&gpu_numbers, key);
	return known ? *known : 0;
}

static __always_inline void learn_gpu(struct aggregate_process *process, __u32 slot,
				      const struct cuda_device *device)
{
	struct gpu_key key;
	__u32 gpu;

	/* The first slot is that of many processes. */
	if (!slot || device->device >= AGGREGATE_DEVICES)
		return;
	__builtin_memcpy(key.uuid, device->mig ? device->mig_uuid : device->uuid, sizeof(key.uuid));
	gpu = number_gpu(&key);
	process->share_of[modulo(device->device, AGGREGATE_DEVICES)] =
		gpu ? number_share(process->serial, slot, gpu - 1) : 0;
	process->gpu_of[modulo(device->device, AGGREGATE_DEVICES)] = gpu;
}

#endif
