// SPDX-License-Identifier: BSD-2-Clause
/*
 * Three slabs of buffers. The address range is reserved once and never unmapped: CUPTI keeps a
 * buffer beyond a detach, and was seen to write into memory that it had handed back (H100, 13.0
 * Update 1, programs of 32 threads with graphs, four at a time on 16 CPUs: 49 of 144 died where
 * buffers were unmapped, 12 of some 156 since). Which buffers of a slab are free is a
 * bit mask, the lowest first, so that few pages are ever touched.
 *
 * Since 13.0 CUPTI holds a buffer for each launching thread, be it for one record: threads that
 * come and go empty the pool without filling it. Then it gets a small one (a spare). Only when all
 * of those are out as well it is a discard buffer, whose records are counted and lost: whoever
 * reads cannot keep up, and counting is all that it still has time for. Never NULL (libcupti
 * before 12.9 crashes on it), and never memory that CUPTI has already: on an H100, after one
 * discard buffer had served several requests at once, no GPU record came any more.
 */
#include "libcupti-usdt/trace/activity_buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/status.h"

#define BUFFERS	      30U
#define BUFFERS_LOW   10U /* fewer free than these */
#define BUFFER_BYTES  (256U << 10)
#define SPARES	      192U
#define SPARE_BYTES   (16U << 10)
#define DISCARDS      1024U
#define DISCARD_BYTES (8U << 10) /* its size distinguishes it from a spare */
#define WORDS	      (DISCARDS / 64)

struct slab {
	uint8_t *base;
	uint32_t bytes, count;	/* of one; how many */
	_Atomic(uint32_t) used; /* those below were taken since the last trim */
	_Atomic(uint64_t) free[WORDS];
};

enum { POOL, SPARE, DISCARD, SLABS };

static struct slab slabs[SLABS] = {
	[POOL] = {.bytes = BUFFER_BYTES, .count = BUFFERS},
	[SPARE] = {.bytes = SPARE_BYTES, .count = SPARES},
	[DISCARD] = {.bytes = DISCARD_BYTES, .count = DISCARDS},
};
static atomic_bool reported_low; /* and nothing came back since */

/* The bits of a slab's word when all of its buffers are free. */
static uint64_t all_free(const struct slab *slab, uint32_t word)
{
	uint32_t left = slab->count - word * 64;

	return left >= 64 ? ~0ULL : (1ULL << left) - 1;
}

static uint32_t words_of(const struct slab *slab)
{
	return (slab->count + 63) / 64;
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
		for (uint32_t word = 0; word < words_of(&slabs[i]); word++)
			atomic_store(&slabs[i].free[word], all_free(&slabs[i], word));
	}
	return 0;
}

/* The lowest free bit of a word, cleared; -1 if there is none. */
static int claim_lowest(_Atomic(uint64_t) *word)
{
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	while (old)
		if (atomic_compare_exchange_weak_explicit(word, &old, old & (old - 1),
							  memory_order_acquire,
							  memory_order_relaxed))
			return __builtin_ctzll(old);
	return -1;
}

static uint8_t *claim_from(struct slab *slab, size_t *size)
{
	*size = slab->bytes;
	for (uint32_t word = 0; slab->base && word < words_of(slab); word++) {
		int bit = claim_lowest(&slab->free[word]);

		if (bit < 0)
			continue;
		if (word * 64 + bit >= atomic_load_explicit(&slab->used, memory_order_relaxed))
			atomic_store_explicit(&slab->used, word * 64 + bit + 1,
					      memory_order_relaxed);
		return slab->base + (size_t)(word * 64 + bit) * slab->bytes;
	}
	return NULL;
}

/* Of more threads than there are buffers of any sort; never returned. NULL when there is no memory
 * at all: what that does is up to libcupti, and the process is lost anyway. */
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
	uint64_t left = atomic_load_explicit(&slabs[POOL].free[0], memory_order_relaxed);

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
		atomic_fetch_or_explicit(&slabs[i].free[number / 64], 1ULL << number % 64,
					 memory_order_release);
	}
}

bool activity_buffers__are_out(void)
{
	for (int i = POOL; slabs[POOL].base && i <= SPARE; i++)
		for (uint32_t word = 0; word < words_of(&slabs[i]); word++)
			if (atomic_load(&slabs[i].free[word]) != all_free(&slabs[i], word))
				return true;
	return false;
}

/* Taken meanwhile, so that nobody gets a buffer whose pages are just going; one at a time, as a
 * session may begin just now and want the others. */
static void trim(struct slab *slab, uint32_t number)
{
	uint64_t bit = 1ULL << number % 64;
	_Atomic(uint64_t) *word = &slab->free[number / 64];

	if (!(atomic_fetch_and_explicit(word, ~bit, memory_order_acquire) & bit))
		return;
	madvise(slab->base + (size_t)number * slab->bytes, slab->bytes, MADV_DONTNEED);
	atomic_fetch_or_explicit(word, bit, memory_order_release);
}

void activity_buffers__trim(void)
{
	for (int i = 0; slabs[POOL].base && i < SLABS; i++) {
		uint32_t used = atomic_exchange(&slabs[i].used, 0);

		for (uint32_t number = 0; number < used; number++)
			trim(&slabs[i], number);
	}
}
