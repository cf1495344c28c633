// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. a program that launches in a rhythm gives one kernel always the same set: so
 * the kernel's own count decides. 2. each change of set costs as much as 250 launches (0.25 s,
 * H100), but a kernel of few launches is to have all sets: so a kernel stays with one the longer,
 * the more often it had all of them. 3. kernels without end: the table has a bound, and what does
 * not fit is not counted.
 */
#include "libcupti-usdt/profile/metric_rotation.h"

#include <stdatomic.h>
#include <string.h>

#define KINDS	     1024U /* power of 2 */
#define LEAD_MAX     1024  /* of one set before another */
#define LEAD_LIMITED 16	   /* where it is known how many there will be */

struct kind {
	_Atomic(uint64_t) key; /* 0 = free */
	atomic_bool full;      /* in all sets */
	uint32_t quota;	       /* with each set, where there is a limit */
	uint32_t counts[CUDA_REQUEST_SETS];
};

static struct kind kinds[KINDS];
static uint32_t used;
/* Read by launches that are still under way as another request begins. */
static _Atomic(uint32_t) sets = 1;
static _Atomic(uint64_t) wanted;   /* kernels, 0 = all */
static _Atomic(uint64_t) admitted; /* of them */

/* As range_profiler.c takes them apart: what lies between two semicolons, if it is not empty. */
static uint32_t count_sets(const char *request)
{
	uint32_t count = 0;
	bool is_empty = true;

	for (; *request && count < CUDA_REQUEST_SETS; request++) {
		is_empty = *request == ';' || (is_empty && *request == ',');
		count += !is_empty && (!request[1] || request[1] == ';');
	}
	return count ? count : 1;
}

void metric_rotation__begin(const char *request, uint64_t kernels)
{
	for (uint32_t i = 0; used && i < KINDS; i++) {
		atomic_store_explicit(&kinds[i].key, 0, memory_order_relaxed);
		atomic_store_explicit(&kinds[i].full, false, memory_order_relaxed);
		kinds[i].quota = 0;
		memset(kinds[i].counts, 0, sizeof(kinds[i].counts));
	}
	used = 0;
	atomic_store(&admitted, 0);
	atomic_store(&wanted, kernels);
	atomic_store(&sets, count_sets(request));
}

uint64_t metric_rotation__limit(void)
{
	uint64_t kernels = atomic_load_explicit(&wanted, memory_order_relaxed);

	return kernels > UINT64_MAX / CUDA_REQUEST_SETS ? UINT64_MAX : kernels * sets;
}

uint64_t metric_rotation__kind(uint32_t name, const uint32_t grid[3], const uint32_t block[3],
			       uint32_t dynamic_shared)
{
	uint32_t words[8] = {name, dynamic_shared};
	uint64_t hash = 0xcbf29ce484222325ULL;

	memcpy(words + 2, grid, 3 * sizeof(*grid));
	memcpy(words + 5, block, 3 * sizeof(*block));
	for (int i = 0; i < 8; i++) {
		hash = (hash ^ words[i]) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 32;
	}
	return hash ? hash : 1;
}

static struct kind *find(uint64_t key)
{
	for (uint32_t i = 0; i < KINDS; i++) {
		struct kind *kind = &kinds[(key + i) % KINDS];
		uint64_t there = atomic_load_explicit(&kind->key, memory_order_acquire);

		if (there == key)
			return kind;
		if (!there)
			break;
	}
	return NULL;
}

/* A quarter stays free, so that looking for what is not there ends soon. */
static struct kind *admit(uint64_t key)
{
	if (used == KINDS / 4 * 3)
		return NULL;
	for (uint32_t i = 0;; i++) {
		struct kind *kind = &kinds[(key + i) % KINDS];

		if (atomic_load_explicit(&kind->key, memory_order_relaxed))
			continue;
		used++;
		atomic_store_explicit(&kind->key, key, memory_order_release);
		return kind;
	}
}

static bool is_open(void)
{
	return wanted && atomic_load_explicit(&admitted, memory_order_relaxed) < wanted;
}

bool metric_rotation__wants(uint64_t key)
{
	const struct kind *kind = sets > 1 ? find(key) : NULL;

	if (kind)
		return !atomic_load_explicit(&kind->full, memory_order_relaxed);
	return sets == 1 || !wanted || is_open();
}

static uint32_t least(const struct kind *kind)
{
	uint32_t at = 0;

	for (uint32_t i = 1; i < sets; i++)
		if (kind->counts[i] < kind->counts[at])
			at = i;
	return at;
}

static bool may_stay(const struct kind *kind, uint32_t now, uint32_t fewest)
{
	uint32_t lead = fewest < LEAD_MAX / 3 ? 3 * fewest + 1 : LEAD_MAX;

	if (!wanted)
		return kind->counts[now] < fewest + lead;
	if (lead < LEAD_LIMITED)
		lead = LEAD_LIMITED;
	return kind->counts[now] < fewest + lead && kind->counts[now] < kind->quota;
}

int metric_rotation__next(uint64_t key, uint32_t now)
{
	struct kind *kind;
	uint32_t behind;

	if (sets == 1)
		return 0;
	kind = find(key);
	if (!kind && (!wanted || is_open()))
		kind = admit(key);
	if (!kind)
		return -1;
	/* The first so many launches say which kernels are meant, and how often each. */
	if (is_open()) {
		atomic_fetch_add(&admitted, 1);
		kind->quota++;
	}
	behind = least(kind);
	if (wanted && kind->counts[behind] >= kind->quota) {
		atomic_store_explicit(&kind->full, !is_open(), memory_order_relaxed);
		return -1;
	}
	return (int)(may_stay(kind, now, kind->counts[behind]) ? now : behind);
}

void metric_rotation__counted(uint64_t key, uint32_t set)
{
	struct kind *kind = sets > 1 ? find(key) : NULL;

	if (kind)
		kind->counts[set]++;
}

void metric_rotation__lost(uint64_t key, uint32_t set)
{
	struct kind *kind = sets > 1 ? find(key) : NULL;

	if (!kind)
		return;
	kind->counts[set] -= kind->counts[set] != 0;
	atomic_store_explicit(&kind->full, false, memory_order_relaxed);
}
