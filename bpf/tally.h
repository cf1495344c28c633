/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps of the aggregate program and how a key's value is found or made in them. Included once,
 * by bpf/aggregate.bpf.c. A value belongs to the lane that is part of its key: plain additions.
 */
#ifndef BPF_TALLY_H
#define BPF_TALLY_H

#include "bpf/filter.h"
#include "bpf/aggregate.h"
#include "bpf/bounds.h"

const volatile struct aggregate_settings aggregate_settings;
struct aggregate_counters counters;
struct aggregate_lane lanes[AGGREGATE_LANES];
struct aggregate_spans spans[AGGREGATE_LANES];
__u32 epoch; /* its lowest bit is the generation; raised by the reader only */
/* Of each generation, zeroed by the reader after a drain. */
__u64 named[2];	  /* keys with a name */
__u32 tallied[2]; /* places of the arrays that are taken */
__u32 shaped[2];
__u32 last_serial;

#define TABLE(map, kind, key_type, value_type, entries) \
	struct {                                        \
		__uint(type, kind);                     \
		__uint(max_entries, entries);           \
		__type(key, key_type);                  \
		__type(value, value_type);              \
	} map SEC(".maps")

/* Key to place in the array: a place can be remembered, a value cannot. Places of generation 1
 * begin behind those of generation 0. */
TABLE(tally_places0, BPF_MAP_TYPE_HASH, struct tally_key, __u32, AGGREGATE_TALLIES);
TABLE(tally_places1, BPF_MAP_TYPE_HASH, struct tally_key, __u32, AGGREGATE_TALLIES);
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * AGGREGATE_TALLIES);
	__uint(map_flags, BPF_F_MMAPABLE); /* read and zeroed in place */
	__type(key, __u32);
	__type(value, struct tally);
} tallies SEC(".maps");
TABLE(shape_places0, BPF_MAP_TYPE_HASH, struct shape_key, __u32, AGGREGATE_SHAPES);
TABLE(shape_places1, BPF_MAP_TYPE_HASH, struct shape_key, __u32, AGGREGATE_SHAPES);
TABLE(shapes, BPF_MAP_TYPE_ARRAY, __u32, struct shape, 2 * AGGREGATE_SHAPES);
/* Which slot a process has: the program assigns slots, the reader frees them. */
TABLE(slots, BPF_MAP_TYPE_HASH, struct aggregate_process_key, __u32, AGGREGATE_PROCESSES);
TABLE(processes, BPF_MAP_TYPE_ARRAY, __u32, struct aggregate_process, AGGREGATE_PROCESSES);
TABLE(devices, BPF_MAP_TYPE_HASH, struct aggregate_device_key, struct cuda_device,
      AGGREGATE_PROCESSES);

TABLE(driver_blocks, BPF_MAP_TYPE_HASH, struct driver_block_key, struct driver_block,
      AGGREGATE_BLOCKS);

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, AGGREGATE_PROCESSES);
	__uint(value_size, sizeof(__u32));
} free_slots SEC(".maps");

/* A launch or a kernel of the queue-delay sample that waits for its other half. */
struct half_key {
	__u32 serial; /* of the process */
	__u32 correlation;
};

struct half {
	__u64 start;
	__u32 kind;   /* enum cuda_record_kind */
	__u32 device; /* of a kernel */
};

TABLE(halves, BPF_MAP_TYPE_LRU_HASH, struct half_key, struct half, 8192);

/* Where a key was found before: a program runs the same few hundred kernels again and again. */
struct known_key {
	struct tally_key key;
	__u32 place;
	__u32 epoch; /* in which that was so */
};

#define KNOWN_KEYS 256 /* a power of two */

/* A lane's memory: the batch and the keys in use. */
struct scratch {
	struct tally_key key;
	struct shape_key shape_key;
	struct half_key half_key;
	struct half half;
	struct aggregate_device_key device_key;
	struct aggregate_process_key process_key;
	struct driver_block_key block_key;
	struct driver_block block;
	__u32 epoch;
	__u32 tally_place; /* of key */
	char comm[EVENT_COMM_LEN];
	__u32 shape_place; /* of shape_key */
	__u32 shape_known; /* shape_key and shape_place are those of this batch */
	struct known_key known[KNOWN_KEYS];
	__u8 records[CUDA_BATCH_MAX + AGGREGATE_MARGIN];
};

TABLE(scratches, BPF_MAP_TYPE_ARRAY, __u32, struct scratch, AGGREGATE_LANES);

/* Where a record is and where it is added to. */
struct place {
	struct scratch *scratch;
	struct aggregate_process *process;
	const void *record;
	__u32 lane;
	__u32 slot;
};

static __always_inline void count_up(__u64 *counter, __u64 n)
{
	__sync_fetch_and_add(counter, n);
}

/* All ones if value > limit, else zero. The verifier follows every branch of every step of the
 * loop, and five branches in each of three histograms are too many for it: so none. */
static __always_inline __u64 above(__u64 value, __u64 limit)
{
	__u64 difference = limit - value;

	asm volatile("" : "+r"(difference));
	return (__s64)difference >> 63;
}

/* Rounded up, so that a bucket's upper bound is inclusive, as that of Prometheus's "le" is. For
 * values up to 2^62. */
static __always_inline __u32 log2_bucket(__u64 value)
{
	__u64 bucket, step, more = above(value, 1);

	value = (value - 1) & more;
	bucket = step = above(value, 0xffffffff) & 32;
	value >>= step;
	step = above(value, 0xffff) & 16;
	bucket += step;
	value >>= step;
	step = above(value, 0xff) & 8;
	bucket += step;
	value >>= step;
	step = above(value, 0xf) & 4;
	bucket += step;
	value >>= step;
	step = above(value, 0x3) & 2;
	bucket += step;
	value >>= step;
	bucket += (value >> 1) + (more & 1);
	return bucket < AGGREGATE_BUCKETS ? bucket : AGGREGATE_BUCKETS - 1;
}

static __always_inline __u32 generation_of(const struct scratch *s)
{
	return s->epoch & 1;
}

static __always_inline __u32 *find_place(struct scratch *s)
{
	return generation_of(s) ? bpf_map_lookup_elem(&tally_places1, &s->key)
				: bpf_map_lookup_elem(&tally_places0, &s->key);
}

/* 0, or not when there is no space. */
static __always_inline long make_place(struct scratch *s)
{
	__u32 *taken = generation_of(s) ? &tallied[1] : &tallied[0];

	if (*taken >= AGGREGATE_TALLIES)
		return -1;
	s->tally_place = __sync_fetch_and_add(taken, 1);
	if (s->tally_place >= AGGREGATE_TALLIES)
		return -1;
	if (!generation_of(s))
		return bpf_map_update_elem(&tally_places0, &s->key, &s->tally_place, BPF_NOEXIST);
	s->tally_place += AGGREGATE_TALLIES;
	return bpf_map_update_elem(&tally_places1, &s->key, &s->tally_place, BPF_NOEXIST);
}

/* True: the key has become that of the rest, because there are too many names. */
static __always_inline bool fold_name(struct scratch *s)
{
	__u64 *count = generation_of(s) ? &named[1] : &named[0];

	if (!s->key.name || (s->key.kind != TALLY_KERNEL && s->key.kind != TALLY_FAILED))
		return false;
	if (*count < AGGREGATE_NAMED) {
		count_up(count, 1);
		return false;
	}
	s->key.name = AGGREGATE_NAME_REST;
	count_up(&counters.folded, 1);
	return true;
}

/* Where the lane's key has its tally: in its tally_place. 0, or not when there is no space. Global,
 * as bpf/tally_records.h explains. */
__attribute__((noinline)) int place_tally(__u32 lane)
{
	struct scratch *s = bpf_map_lookup_elem(&scratches, &lane);
	__u32 *place;

	if (!s)
		return -1;
	place = find_place(s);
	if (!place && fold_name(s))
		place = find_place(s);
	if (!place)
		return make_place(s) != 0;
	s->tally_place = *place;
	return 0;
}

static __always_inline bool is_known(const struct known_key *known, const struct scratch *s)
{
	const __u64 *a = (const void *)&known->key, *b = (const void *)&s->key;

	return a[0] == b[0] && a[1] == b[1] && known->epoch == s->epoch;
}

/* NULL: no space. */
static __always_inline struct tally *find_tally(struct place *at, __u32 kind, __u32 name,
						__u32 device, __u32 detail)
{
	struct scratch *s = at->scratch;
	struct tally_key *key = &s->key;
	struct known_key *known;

	key->process = at->slot;
	key->name = name;
	key->device = device;
	key->kind = kind;
	key->detail = detail;
	key->lane = at->lane;
	known = &s->known[modulo(name ^ at->slot ^ device << 4 ^ kind << 5 ^ detail, KNOWN_KEYS)];
	if (is_known(known, s)) {
		s->tally_place = known->place;
	} else if (place_tally(at->lane)) {
		return NULL;
	} else {
		known->key = *key;
		known->place = s->tally_place;
		known->epoch = s->epoch;
	}
	return bpf_map_lookup_elem(&tallies, &s->tally_place);
}

/* The same; then the record counts as lost. */
static __always_inline struct tally *tally_of(struct place *at, __u32 kind, __u32 name,
					      __u32 device, __u32 detail)
{
	struct tally *tally = find_tally(at, kind, name, device, detail);

	if (!tally)
		count_up(&counters.full, 1);
	return tally;
}

static __always_inline __u32 *find_shape(struct scratch *s)
{
	return generation_of(s) ? bpf_map_lookup_elem(&shape_places1, &s->shape_key)
				: bpf_map_lookup_elem(&shape_places0, &s->shape_key);
}

/* 0, or -1 when there is no space. */
static __always_inline int place_shape(struct scratch *s)
{
	__u32 *known = find_shape(s), place;

	if (known) {
		s->shape_place = *known;
		return 0;
	}
	place = __sync_fetch_and_add(generation_of(s) ? &shaped[1] : &shaped[0], 1);
	if (place >= AGGREGATE_SHAPES)
		return -1;
	if (generation_of(s))
		place += AGGREGATE_SHAPES;
	s->shape_place = place;
	return generation_of(s)
		       ? bpf_map_update_elem(&shape_places1, &s->shape_key, &place, BPF_NOEXIST)
		       : bpf_map_update_elem(&shape_places0, &s->shape_key, &place, BPF_NOEXIST);
}

static __always_inline struct shape *shape_of(struct place *at, __u32 context)
{
	struct scratch *s = at->scratch;
	struct shape *shape = NULL;

	if (!s->shape_known || s->shape_key.context != context) {
		s->shape_key.process = at->slot;
		s->shape_key.context = context;
		s->shape_key.lane = at->lane;
		s->shape_known = !place_shape(s);
	}
	if (s->shape_known)
		shape = bpf_map_lookup_elem(&shapes, &s->shape_place);
	if (!shape)
		count_up(&counters.full, 1);
	return shape;
}

static __always_inline void add_time(struct tally *tally, __u64 ns)
{
	__u32 bucket = log2_bucket(ns);

	tally->ns += ns;
	if (ns > tally->max_ns)
		tally->max_ns = ns;
	if (bucket < AGGREGATE_BUCKETS)
		tally->ns_log2[bucket]++;
}

#endif
