// SPDX-License-Identifier: BSD-2-Clause
/*
 * The pool. Which buffers are free is one bit mask, the lowest first, so that few pages are ever
 * touched. The address range is reserved once and never unmapped: CUPTI may keep a buffer that it
 * asked for beyond a detach, and would write into whatever came to lie there.
 *
 * When the pool is empty CUPTI still gets memory (libcupti before 12.9 crashes on NULL): a discard
 * buffer, mapped for this one use. What lands there is counted and lost. It is never memory that
 * CUPTI has already: on an H100, after the pool had run empty while one discard buffer served
 * several requests at once, no GPU record came any more.
 */
#include "libcupti-usdt/buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "libcupti-usdt/memory.h"
#include "libcupti-usdt/status.h"

#define BUFFERS	      30U
#define BUFFER_BYTES  (256U << 10)
#define DISCARD_BYTES (16U << 10)

struct buffer {
	_Alignas(64) uint8_t records[BUFFER_BYTES];
	struct batch batches[BUFFER_BATCHES];
};

static struct buffer *pool;
static _Atomic(uint64_t) free_buffers = (1ULL << BUFFERS) - 1;
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

uint8_t *buffers__take(size_t *size)
{
	int i = pool ? take_lowest() : -1;
	void *discard;

	if (i >= 0) {
		*size = BUFFER_BYTES;
		return pool[i].records;
	}
	*size = DISCARD_BYTES;
	discard = mmap(NULL, DISCARD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	/* No memory at all: what NULL does is up to libcupti, and the process is lost anyway. */
	return discard == MAP_FAILED ? NULL : discard;
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

void buffers__give(uint8_t *buffer)
{
	struct buffer *found = find(buffer);

	if (found)
		atomic_fetch_or_explicit(&free_buffers, 1ULL << (found - pool),
					 memory_order_release);
	else
		munmap(buffer, DISCARD_BYTES);
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
