// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time in slices of 16 us, each with a map of 64 bits: bit n says that something of a kind happened
 * in its n-th quarter of a microsecond. Kinds are then joined by logic instead of sorting, in any
 * order of arrival, and a record costs a few instructions. What lies further back than the slices
 * that are kept is counted as late. Used by stat_table.c for each record; the tool's one thread.
 *
 * CUPTI keeps a buffer as long as one of its records is unfinished (docs/internals/design.md):
 * where the next kernel is always queued, kernels come seconds after their launches. Three ways to
 * go wrong there:
 * 1. Slices are closed before their kernels came: all that the GPU did is idleness then. So a
 *    launch after which nothing of the GPU came makes the slices more instead of being closed.
 * 2. Kernels that never come, or hostile times, make the slices many: there is a bound for one
 *    process and one for all. They do not become fewer: who was late is late again.
 * 3. What comes later than all that makes the sums wrong without a word: it is counted, by length,
 *    and where it is much, the sums are called doubtful and no advice rests on them.
 */
#include "cuda-trace/stat/stat_time.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Slices are of 16.4 us and 32 bytes, powers of 2. */
#define LEAST	    (1ull << 14) /* 268 ms: half a MiB, which each process gets */
#define FIRST	    (1ull << 16) /* 1.07 s: what comes out of order is not much later than this */
#define MOST	    (1ull << 19) /* 8.6 s: 16 MiB */
#define MOST_BEYOND (64u << 20)	 /* bytes, of all processes, beyond LEAST of each */
#define SLICE_BITS  14		 /* ns */
#define BIT_BITS    8		 /* ns: 256 ns */
#define BIT_NS	    (1u << BIT_BITS)
#define LONGEST	    (600ull * 1000000000) /* of one event; more is nonsense */
#define DOUBTFUL    100			  /* one part in so many was late */

enum kind { KERNEL, COPY, LAUNCH, WAIT, KINDS }; /* the GPU's, then the host's */

struct stat_time {
	uint64_t first; /* ns; UINT64_MAX = nothing came */
	uint64_t last;
	uint64_t oldest;  /* number of the oldest slice that is kept */
	uint64_t size;	  /* slices */
	uint64_t gpu_end; /* ns: nothing of the GPU came that ended later */
	bool stamped;	  /* the last launch that worked has a kernel to come */
	size_t *beyond;	  /* bytes that all processes have beyond their LEAST */
	struct stat_time_sums sums;
	/* Work shorter than a bit fills it: together it cannot be more than its lengths say. */
	uint64_t lengths[KINDS];
	uint64_t late[KINDS]; /* ns, in none of the lengths */
	uint64_t (*maps)[KINDS];
};

static uint64_t *maps_of(const struct stat_time *time, uint64_t slice)
{
	return time->maps[slice & (time->size - 1)];
}

/* What is closed stays as it is: only the place of what is kept changes. */
static bool resize(struct stat_time *time, uint64_t size)
{
	size_t more = (size - (time->size ? time->size : LEAST)) * sizeof(*time->maps);
	uint64_t(*maps)[KINDS];

	if (size > MOST || *time->beyond + more > MOST_BEYOND)
		return false;
	maps = calloc(size, sizeof(*maps));
	if (!maps)
		return false;
	for (uint64_t i = time->oldest; i < time->oldest + time->size; i++)
		memcpy(maps[i & (size - 1)], maps_of(time, i), sizeof(*maps));
	free(time->maps);
	time->maps = maps;
	time->size = size;
	*time->beyond += more;
	return true;
}

struct stat_time *stat_time__new(size_t *beyond)
{
	struct stat_time *time = calloc(1, sizeof(*time));

	if (!time)
		return NULL;
	time->beyond = beyond;
	time->first = UINT64_MAX;
	if (resize(time, FIRST) || resize(time, LEAST))
		return time;
	free(time);
	return NULL;
}

void stat_time__free(struct stat_time *time)
{
	if (!time)
		return;
	*time->beyond -= (time->size - LEAST) * sizeof(*time->maps);
	free(time->maps);
	free(time);
}

static uint64_t bits(uint64_t map)
{
	/* Most are empty, and where the CPU is not known to count bits this is a call. */
	return map ? (uint64_t)__builtin_popcountll(map) * BIT_NS : 0;
}

static void close_slice(struct stat_time *time, uint64_t slice)
{
	uint64_t *maps = maps_of(time, slice);
	uint64_t busy = maps[KERNEL] | maps[COPY];

	time->sums.kernel_ns += bits(maps[KERNEL]);
	time->sums.copy_ns += bits(maps[COPY]);
	time->sums.busy_ns += bits(busy);
	time->sums.host_bound_ns += bits(maps[LAUNCH] & ~busy);
	time->sums.host_wait_ns += bits(maps[WAIT] & ~maps[LAUNCH] & ~busy);
	memset(maps, 0, sizeof(*time->maps));
}

/* Whether the kernel of a launch in this slice is still to come. */
static bool awaits(const struct stat_time *time, uint64_t slice)
{
	return time->stamped && slice > time->gpu_end >> SLICE_BITS && maps_of(time, slice)[LAUNCH];
}

static void make_room(struct stat_time *time, uint64_t slice)
{
	uint64_t closed = 0;

	while (slice >= time->oldest + time->size) {
		if (awaits(time, time->oldest) && resize(time, time->size * 2))
			continue;
		/* A gap longer than what is kept has nothing in it. */
		if (closed++ == time->size)
			time->oldest = slice - time->size + 1;
		else
			close_slice(time, time->oldest++);
	}
}

/* Counts what of an event lies before the oldest slice, and lets others like it be in time. */
__attribute__((noinline)) static void count_late(struct stat_time *time, enum kind kind,
						 uint64_t start, uint64_t end)
{
	uint64_t oldest = time->oldest << SLICE_BITS;

	time->sums.late_events++;
	time->late[kind] += (end < oldest ? end : oldest) - start;
	while ((time->last - start) >> SLICE_BITS >= time->size && resize(time, time->size * 2))
		;
}

/* What does not lie in one slice that is kept. */
__attribute__((noinline)) static void place(struct stat_time *time, enum kind kind, uint64_t start,
					    uint64_t end)
{
	uint64_t from = start >> SLICE_BITS, to = end >> SLICE_BITS;

	if (from < time->oldest) {
		count_late(time, kind, start, end);
		from = time->oldest;
		start = from << SLICE_BITS;
		if (end < start)
			return;
	}
	time->lengths[kind] += end - start;
	for (uint64_t slice = from; slice <= to; slice++) {
		int low = slice == from ? (start >> BIT_BITS) & 63 : 0;
		int high = slice == to ? (end >> BIT_BITS) & 63 : 63;

		/* On the way, so that an event longer than all slices is not cut. */
		if (slice >= time->oldest + time->size)
			make_room(time, slice);
		maps_of(time, slice)[kind] |= (~0ull >> (63 - (high - low))) << low;
	}
}

static void mark(struct stat_time *time, enum kind kind, uint64_t start, uint64_t end)
{
	uint64_t from = start >> SLICE_BITS;
	int low = (start >> BIT_BITS) & 63, high = (end >> BIT_BITS) & 63;

	if (end < start || !start || end - start > LONGEST)
		return;
	if (start < time->first) {
		if (time->first == UINT64_MAX)
			time->oldest = from > time->size / 2 ? from - time->size / 2 : 0;
		time->first = start;
	}
	if (end > time->last)
		time->last = end;
	/* Before its place: this is what slices with launches wait for. */
	if (kind <= COPY && end > time->gpu_end)
		time->gpu_end = end;
	if (from != end >> SLICE_BITS || from - time->oldest >= time->size) {
		place(time, kind, start, end);
		return;
	}
	time->lengths[kind] += end - start;
	maps_of(time, from)[kind] |= (~0ull >> (63 - (high - low))) << low;
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
		/* After it: one that loads a module for seconds does not wait for itself. */
		time->stamped = !launch->result && launch->flags & CUDA_LAUNCH_TIMED;
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

static bool much(uint64_t late, uint64_t placed)
{
	return late * DOUBTFUL > late + placed;
}

static void add_late(const struct stat_time *time, struct stat_time_sums *sums)
{
	uint64_t gpu = time->late[KERNEL] + time->late[COPY];
	uint64_t host = time->late[LAUNCH] + time->late[WAIT];

	sums->late_events += time->sums.late_events;
	sums->late_gpu_ns += gpu;
	sums->late_host_ns += host;
	sums->doubtful += much(gpu, time->lengths[KERNEL] + time->lengths[COPY]) ||
			  much(host, time->lengths[LAUNCH] + time->lengths[WAIT]);
}

void stat_time__finish(struct stat_time *time, struct stat_time_sums *sums)
{
	uint64_t kernel, copy;

	if (!time->last)
		return;
	for (uint64_t i = 0; i < time->size; i++)
		close_slice(time, time->oldest++);
	kernel = least(time->sums.kernel_ns, time->lengths[KERNEL]);
	copy = least(time->sums.copy_ns, time->lengths[COPY]);
	sums->window_ns += time->last - time->first;
	sums->kernel_ns += kernel;
	sums->copy_ns += copy;
	sums->busy_ns += least(time->sums.busy_ns, kernel + copy);
	sums->host_bound_ns += time->sums.host_bound_ns;
	sums->host_wait_ns += time->sums.host_wait_ns;
	add_late(time, sums);
}
