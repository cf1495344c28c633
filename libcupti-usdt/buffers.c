// SPDX-License-Identifier: BSD-2-Clause
/*
 * The pool. Which buffers are free is one bit mask, the lowest first, so that few pages are ever
 * touched. The address range is reserved once and never unmapped: CUPTI may keep a buffer that it
 * asked for beyond a detach, and would write into whatever came to lie there.
 *
 * When the pool is empty CUPTI still gets memory (libcupti before 12.9 crashes on NULL): a discard
 * buffer of its own while one is left, else one that is shared. What lands there is lost, and is
 * counted: exactly in the former, by its size in the latter.
 */
#include "libcupti-usdt/buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "libcupti-usdt/memory.h"
#include "libcupti-usdt/status.h"

#define BUFFERS	      24U
#define BUFFER_BYTES  (256U << 10)
#define DISCARDS      4U
#define DISCARD_BYTES 8192U

struct buffer {
	_Alignas(64) uint8_t records[BUFFER_BYTES];
	struct batch batches[BUFFER_BATCHES];
};

static struct buffer *pool;
static _Atomic(uint32_t) free_buffers = (1U << BUFFERS) - 1;
/* The last one is shared. */
static _Alignas(64) uint8_t discards[DISCARDS + 1][DISCARD_BYTES];
static _Atomic(uint32_t) free_discards = (1U << DISCARDS) - 1;

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

/* The lowest bit of a mask, taken; -1 if there is none. */
static int take_lowest(_Atomic(uint32_t) *mask)
{
	uint32_t old = atomic_load_explicit(mask, memory_order_relaxed);

	while (old)
		if (atomic_compare_exchange_weak_explicit(mask, &old, old & (old - 1),
							  memory_order_acquire,
							  memory_order_relaxed))
			return __builtin_ctz(old);
	return -1;
}

uint8_t *buffers__take(size_t *size)
{
	int i = pool ? take_lowest(&free_buffers) : -1;

	if (i >= 0) {
		*size = BUFFER_BYTES;
		return pool[i].records;
	}
	*size = DISCARD_BYTES;
	i = take_lowest(&free_discards);
	return discards[i >= 0 ? (unsigned int)i : DISCARDS];
}

static struct buffer *find(uint8_t *buffer)
{
	uintptr_t distance = (uintptr_t)buffer - (uintptr_t)pool;

	if (!pool || distance >= BUFFERS * sizeof(*pool))
		return NULL;
	return &pool[distance / sizeof(*pool)];
}

struct batch *buffers__batches(uint8_t *buffer)
{
	struct buffer *found = find(buffer);

	return found ? found->batches : NULL;
}

bool buffers__is_shared(uint8_t *buffer)
{
	return buffer == discards[DISCARDS];
}

void buffers__give(uint8_t *buffer)
{
	struct buffer *found = find(buffer);
	uintptr_t distance = (uintptr_t)buffer - (uintptr_t)discards;

	if (found)
		atomic_fetch_or_explicit(&free_buffers, 1U << (found - pool), memory_order_release);
	else if (distance < DISCARDS * DISCARD_BYTES)
		atomic_fetch_or_explicit(&free_discards, 1U << distance / DISCARD_BYTES,
					 memory_order_release);
}

void buffers__trim(void)
{
	for (unsigned int i = 0; pool && i < BUFFERS; i++) {
		uint32_t bit = 1U << i;

		/* Taken meanwhile, so that nobody gets a buffer whose pages are just going; one at
		 * a time, as a session may begin just now and want the others. */
		if (!(atomic_fetch_and_explicit(&free_buffers, ~bit, memory_order_acquire) & bit))
			continue;
		madvise(&pool[i], sizeof(*pool), MADV_DONTNEED);
		atomic_fetch_or_explicit(&free_buffers, bit, memory_order_release);
	}
}
