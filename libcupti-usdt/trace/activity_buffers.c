// SPDX-License-Identifier: BSD-2-Clause
/*
 * The pool. Which buffers are free is one bit mask, the lowest first, so that few pages are ever
 * touched. The address range is reserved once and never unmapped: CUPTI may keep a buffer that it
 * asked for beyond a detach, and would write into whatever came to lie there.
 *
 * Since 13.0 CUPTI holds a buffer for each launching thread, be it for one record: threads that
 * come and go empty the pool without filling it. Then a small one is mapped for this one use (a
 * spare). Only when too many of those are out as well it is a discard
 * buffer, whose records are counted and lost: whoever reads cannot keep up, and counting is all
 * that it still has time for. Never NULL (libcupti before 12.9 crashes on it), and never memory
 * that CUPTI has already: on an H100, after one discard buffer had served several requests at
 * once, no GPU record came any more.
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
#define DISCARD_BYTES (8U << 10) /* by its size CUPTI tells it from a spare */

struct buffer {
	_Alignas(64) uint8_t records[BUFFER_BYTES];
};

static struct buffer *pool;
static _Atomic(uint64_t) free_buffers = (1ULL << BUFFERS) - 1;
static _Atomic(uint32_t) spares_out;
static atomic_bool told_low; /* and nothing came back since */

int buffers__open(void)
{
	void *memory;

	if (pool)
		return 0;
	memory = memory__map(BUFFERS * sizeof(*pool));
	if (!memory)
		return -ENOMEM;
	pool = memory;
	return 0;
}

/* The lowest free buffer, taken; -1 if there is none. */
static int take_lowest(void)
{
	uint64_t old = atomic_load_explicit(&free_buffers, memory_order_relaxed);

	while (old)
		if (atomic_compare_exchange_weak_explicit(&free_buffers, &old, old & (old - 1),
							  memory_order_acquire,
							  memory_order_relaxed))
			return __builtin_ctzll(old);
	return -1;
}

/* NULL when there is no memory at all: what that does is up to libcupti, and the process is lost
 * anyway. */
static uint8_t *take_mapped(size_t *size)
{
	bool spare = atomic_fetch_add_explicit(&spares_out, 1, memory_order_relaxed) < SPARES;
	void *memory;

	*size = spare ? SPARE_BYTES : DISCARD_BYTES;
	memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		memory = NULL;
	if (!spare || !memory)
		atomic_fetch_sub_explicit(&spares_out, 1, memory_order_relaxed);
	return memory;
}

uint8_t *buffers__take(size_t *size)
{
	int i = pool ? take_lowest() : -1;

	if (i < 0)
		return take_mapped(size);
	*size = BUFFER_BYTES;
	return pool[i].records;
}

bool buffers__run_low(void)
{
	uint64_t left = atomic_load_explicit(&free_buffers, memory_order_relaxed);

	return (uint32_t)__builtin_popcountll(left) < BUFFERS_LOW &&
	       !atomic_exchange_explicit(&told_low, true, memory_order_relaxed);
}

bool buffers__is_discard(size_t size)
{
	return size == DISCARD_BYTES;
}

static bool is_pooled(const uint8_t *buffer)
{
	return pool && (uintptr_t)buffer - (uintptr_t)pool < BUFFERS * sizeof(*pool);
}

void buffers__give(uint8_t *buffer, size_t size)
{
	atomic_store_explicit(&told_low, false, memory_order_relaxed);
	if (is_pooled(buffer)) {
		atomic_fetch_or_explicit(&free_buffers, 1ULL << ((struct buffer *)buffer - pool),
					 memory_order_release);
		return;
	}
	if (size == SPARE_BYTES)
		atomic_fetch_sub_explicit(&spares_out, 1, memory_order_relaxed);
	if (size == SPARE_BYTES || size == DISCARD_BYTES)
		munmap(buffer, size);
}

bool buffers__are_out(void)
{
	return pool &&
	       (atomic_load(&free_buffers) != (1ULL << BUFFERS) - 1 || atomic_load(&spares_out));
}

void buffers__trim(void)
{
	for (unsigned int i = 0; pool && i < BUFFERS; i++) {
		uint64_t bit = 1ULL << i;

		/* Taken meanwhile, so that nobody gets a buffer whose pages are just going; one at
		 * a time, as a session may begin just now and want the others. */
		if (!(atomic_fetch_and_explicit(&free_buffers, ~bit, memory_order_acquire) & bit))
			continue;
		madvise(&pool[i], sizeof(*pool), MADV_DONTNEED);
		atomic_fetch_or_explicit(&free_buffers, bit, memory_order_release);
	}
}
