// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two slabs of buffers. The address range is reserved once and never unmapped: CUPTI keeps buffers
 * beyond a detach. Which buffers of a slab are free is a bit mask, the lowest first, so that few
 * pages are ever touched.
 *
 * All threads of the program share one buffer (activity.c), and CUPTI keeps a full one until the
 * GPU is done with all of its kernels: the pool must have space for what the GPU's queues hold. If
 * it is empty, CUPTI gets a discard buffer, whose records are counted and lost: whoever reads
 * cannot keep up, and counting is all that there is time for. Discard buffers are not much smaller,
 * as CUPTI's work for each buffer would keep it from ever catching up. Never NULL (libcupti before
 * 12.9 crashes on it), and never memory that CUPTI has already: on an H100, after one discard
 * buffer had served several requests at once, no GPU record came any more.
 */
#include "libcupti-usdt/trace/activity_buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/status.h"

#define BUFFERS	      56U
#define BUFFERS_LOW   10U /* fewer free than these */
#define BUFFER_BYTES  (256U << 10)
#define DISCARDS      32U
#define DISCARD_BYTES (64U << 10) /* its size distinguishes it */

struct slab {
	uint8_t *base;
	uint32_t bytes, count;	/* of one; how many */
	_Atomic(uint32_t) used; /* those below were taken since the last trim */
	_Atomic(uint64_t) free; /* a bit for each */
};

enum { POOL, DISCARD, SLABS };

static struct slab slabs[SLABS] = {
	[POOL] = {.bytes = BUFFER_BYTES, .count = BUFFERS},
	[DISCARD] = {.bytes = DISCARD_BYTES, .count = DISCARDS},
};
static atomic_bool reported_low; /* and nothing came back since */

/* The mask when all buffers of a slab are free. */
static uint64_t all_free(const struct slab *slab)
{
	return slab->count >= 64 ? ~0ULL : (1ULL << slab->count) - 1;
}

int activity_buffers__open(void)
{
	size_t size = 0;
	uint8_t *memory;

	if (slabs[POOL].base)
		return 0;
	for (int i = 0; i < SLABS; i++)
		size += (size_t)slabs[i].bytes * slabs[i].count;
	memory = memory__map(size);
	if (!memory)
		return -ENOMEM;
	for (int i = SLABS - 1; i >= 0; i--) {
		size -= (size_t)slabs[i].bytes * slabs[i].count;
		slabs[i].base = memory + size;
		atomic_store(&slabs[i].free, all_free(&slabs[i]));
	}
	return 0;
}

/* The lowest free bit, cleared; -1 if there is none. */
static int claim_lowest(_Atomic(uint64_t) *mask)
{
	uint64_t old = atomic_load_explicit(mask, memory_order_relaxed);

	while (old)
		if (atomic_compare_exchange_weak_explicit(mask, &old, old & (old - 1),
							  memory_order_acquire,
							  memory_order_relaxed))
			return __builtin_ctzll(old);
	return -1;
}

static uint8_t *claim_from(struct slab *slab, size_t *size)
{
	int bit = slab->base ? claim_lowest(&slab->free) : -1;

	*size = slab->bytes;
	if (bit < 0)
		return NULL;
	if ((uint32_t)bit >= atomic_load_explicit(&slab->used, memory_order_relaxed))
		atomic_store_explicit(&slab->used, bit + 1, memory_order_relaxed);
	return slab->base + (size_t)bit * slab->bytes;
}

/* Beyond both slabs; never returned. NULL when there is no memory at all: what that does is up to
 * libcupti, and the process is lost anyway. */
static uint8_t *claim_mapped(size_t *size)
{
	void *memory;

	*size = DISCARD_BYTES;
	memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

uint8_t *activity_buffers__take(size_t *size)
{
	for (int i = 0; i < SLABS; i++) {
		uint8_t *buffer = claim_from(&slabs[i], size);

		if (buffer)
			return buffer;
	}
	return claim_mapped(size);
}

bool activity_buffers__run_low(void)
{
	uint64_t left = atomic_load_explicit(&slabs[POOL].free, memory_order_relaxed);

	return (uint32_t)__builtin_popcountll(left) < BUFFERS_LOW &&
	       !atomic_exchange_explicit(&reported_low, true, memory_order_relaxed);
}

bool activity_buffers__is_discard(size_t size)
{
	return size == DISCARD_BYTES;
}

static bool is_of(const struct slab *slab, const uint8_t *buffer)
{
	return slab->base &&
	       (uintptr_t)buffer - (uintptr_t)slab->base < (size_t)slab->bytes * slab->count;
}

void activity_buffers__release(uint8_t *buffer)
{
	atomic_store_explicit(&reported_low, false, memory_order_relaxed);
	for (int i = 0; i < SLABS; i++) {
		uint32_t number;

		if (!is_of(&slabs[i], buffer))
			continue;
		number = (buffer - slabs[i].base) / slabs[i].bytes;
		atomic_fetch_or_explicit(&slabs[i].free, 1ULL << number, memory_order_release);
	}
}

bool activity_buffers__are_out(void)
{
	for (int i = 0; slabs[POOL].base && i < SLABS; i++)
		if (atomic_load(&slabs[i].free) != all_free(&slabs[i]))
			return true;
	return false;
}

/* Taken meanwhile, so that nobody gets a buffer whose pages are just going; one at a time, as a
 * session may begin just now and want the others. */
static void trim(struct slab *slab, uint32_t number)
{
	uint64_t bit = 1ULL << number;

	if (!(atomic_fetch_and_explicit(&slab->free, ~bit, memory_order_acquire) & bit))
		return;
	madvise(slab->base + (size_t)number * slab->bytes, slab->bytes, MADV_DONTNEED);
	atomic_fetch_or_explicit(&slab->free, bit, memory_order_release);
}

void activity_buffers__trim(void)
{
	for (int i = 0; slabs[POOL].base && i < SLABS; i++) {
		uint32_t used = atomic_exchange(&slabs[i].used, 0);

		for (uint32_t number = 0; number < used; number++)
			trim(&slabs[i], number);
	}
}
