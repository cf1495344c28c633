// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time in slices of 16 us, each with a map of 64 bits: bit n says that something of a kind happened
 * in its n-th quarter of a microsecond. Kinds are then joined by logic instead of sorting, in any
 * order of arrival, and a record costs a few instructions. What lies further back than the slices
 * that are kept counts for nothing. Used by stat_table.c for each record; the tool's one thread.
 */
#include "cuda-trace/stat_time.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLICES	   16384 /* of 16.4 us each: 268 ms, more than a guest keeps back */
#define SLICE_BITS 14	 /* ns */
#define BIT_BITS   8	 /* ns: 256 ns */
#define BIT_NS	   (1u << BIT_BITS)
#define LONGEST	   (600ull * 1000000000) /* of one event; more is nonsense */

enum kind { KERNEL, COPY, LAUNCH, WAIT, KINDS };

struct stat_time {
	uint64_t first; /* ns */
	uint64_t last;
	uint64_t oldest; /* number of the oldest slice that is kept */
	uint64_t newest;
	struct stat_time_sums sums;
	/* Work shorter than a bit fills it: together it cannot be more than its lengths say. */
	uint64_t lengths[KINDS];
	uint64_t maps[SLICES][KINDS];
};

struct stat_time *stat_time__new(void)
{
	return calloc(1, sizeof(struct stat_time));
}

void stat_time__free(struct stat_time *time)
{
	free(time);
}

static uint64_t bits(uint64_t map)
{
	return (uint64_t)__builtin_popcountll(map) * BIT_NS;
}

static void close_slice(struct stat_time *time, uint64_t slice)
{
	uint64_t *maps = time->maps[slice % SLICES];
	uint64_t busy = maps[KERNEL] | maps[COPY];

	time->sums.kernel_ns += bits(maps[KERNEL]);
	time->sums.copy_ns += bits(maps[COPY]);
	time->sums.busy_ns += bits(busy);
	time->sums.host_bound_ns += bits(maps[LAUNCH] & ~busy);
	time->sums.host_wait_ns += bits(maps[WAIT] & ~maps[LAUNCH] & ~busy);
	memset(maps, 0, sizeof(time->maps[0]));
}

static void close_until(struct stat_time *time, uint64_t oldest)
{
	/* A gap longer than what is kept has nothing in it. */
	for (uint64_t i = 0; i < SLICES && time->oldest < oldest; i++)
		close_slice(time, time->oldest++);
	time->oldest = oldest;
}

static void mark(struct stat_time *time, enum kind kind, uint64_t start, uint64_t end)
{
	uint64_t from = start >> SLICE_BITS, to = end >> SLICE_BITS;

	if (end < start || !start || end - start > LONGEST)
		return;
	if (!time->first) {
		time->first = start;
		time->last = end;
		time->oldest = from > SLICES / 2 ? from - SLICES / 2 : 0;
	}
	if (start < time->first)
		time->first = start;
	if (end > time->last)
		time->last = end;
	time->lengths[kind] += end - start;
	if (from < time->oldest) {
		from = time->oldest;
		start = from << SLICE_BITS;
	}
	for (uint64_t slice = from; slice <= to; slice++) {
		int low = slice == from ? (start >> BIT_BITS) & 63 : 0;
		int high = slice == to ? (end >> BIT_BITS) & 63 : 63;

		/* On the way, so that an event longer than all slices is not cut. */
		if (slice >= time->oldest + SLICES)
			close_until(time, slice - SLICES + 1);
		time->maps[slice % SLICES][kind] |= (~0ull >> (63 - (high - low))) << low;
	}
}

void stat_time__record(struct stat_time *time, const struct cuda_record *record)
{
	const struct cuda_kernel *kernel = (const void *)record;
	const struct cuda_memcpy *copy = (const void *)record;
	const struct cuda_memset *set = (const void *)record;
	const struct cuda_graph *graph = (const void *)record;
	const struct cuda_launch *launch = (const void *)record;
	const struct cuda_sync *sync = (const void *)record;

	switch (record->kind) {
	case CUDA_RECORD_KERNEL:
		mark(time, KERNEL, kernel->start, kernel->end);
		break;
	case CUDA_RECORD_GRAPH:
		mark(time, KERNEL, graph->start, graph->end);
		break;
	case CUDA_RECORD_MEMCPY:
		mark(time, COPY, copy->start, copy->end);
		break;
	case CUDA_RECORD_MEMSET:
		mark(time, COPY, set->start, set->end);
		break;
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		mark(time, LAUNCH, launch->start, launch->end);
		break;
	case CUDA_RECORD_SYNC:
		/* A stream that waits for an event holds up no host thread. */
		if (sync->type != 2)
			mark(time, WAIT, sync->start, sync->end);
		break;
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void stat_time__finish(struct stat_time *time, struct stat_time_sums *sums)
{
	uint64_t kernel, copy;

	if (!time->first)
		return;
	close_until(time, time->oldest + SLICES);
	kernel = least(time->sums.kernel_ns, time->lengths[KERNEL]);
	copy = least(time->sums.copy_ns, time->lengths[COPY]);
	sums->window_ns += time->last - time->first;
	sums->kernel_ns += kernel;
	sums->copy_ns += copy;
	sums->busy_ns += least(time->sums.busy_ns, kernel + copy);
	sums->host_bound_ns += time->sums.host_bound_ns;
	sums->host_wait_ns += time->sums.host_wait_ns;
}
