// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings of host records. One producer (the owner), one consumer at a time (whoever holds `busy`).
 *
 * Fears: 1. a launching thread waits for the guest: it never does. `busy` is only tried; when the
 * other side has it the owner goes on appending, and with a full ring it sends its record alone.
 * 2. a thread ends while the guest's thread empties its ring: the ring becomes an orphan, which the
 * next flush gives back. 3. threads come and go faster than rings do: with none
 * left a thread sends each record alone; dearer, nothing lost. (A signal handler that leaves an
 * append by longjmp, or a forked child, finds `busy` taken for ever: the same, nothing waits.)
 *
 * A pthread key and not a __thread variable: the thread-local storage of a library that is
 * opened late may be allocated at first touch, inside the program's launch.
 */
#include "libcupti-usdt/rings.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "libcupti-usdt/batches.h"
#include "libcupti-usdt/memory.h"
#include "libcupti-usdt/sites.h"

#define RINGS	 192
#define SLOTS	 128U /* power of 2 */
#define FLUSH_AT 64U

enum ring_state { RING_FREE, RING_OWNED, RING_ORPHAN };

struct slot {
	uint64_t group;
	_Alignas(8) uint8_t record[RING_RECORD_MAX];
};

struct ring {
	_Atomic(uint32_t) state;
	atomic_flag busy; /* somebody empties it */
	uint32_t tid;
	_Atomic(uint64_t) launches;	     /* written by the owner only */
	_Alignas(64) _Atomic(uint32_t) head; /* written by the owner */
	_Alignas(64) _Atomic(uint32_t) tail; /* written by whoever holds busy */
	struct slot slots[SLOTS];
	struct batch staging; /* of whoever holds busy; not on a launching thread's small stack */
};

static struct ring *rings;
static _Atomic(uint32_t) rings_used;	     /* no ring at or above this index was ever taken */
static _Atomic(uint64_t) launches_elsewhere; /* of threads that ended or have no ring */
static pthread_key_t key;
static bool key_made;

int rings__open(void)
{
	void *memory;

	if (rings)
		return 0;
	memory = memory__map(RINGS * sizeof(*rings));
	if (!memory)
		return -ENOMEM;
	rings = memory;
	return 0;
}

static void send_group(struct ring *ring, unsigned int group, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i != to; i++) {
		struct slot *slot = &ring->slots[i & (SLOTS - 1)];

		if (slot->group == group)
			batch__add(&ring->staging, group, (struct cuda_record *)slot->record);
	}
	batch__send(&ring->staging, group);
}

/* Needs busy. */
static void empty(struct ring *ring)
{
	uint32_t from = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t to = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint32_t groups = 0;

	for (uint32_t i = from; i != to; i++)
		groups |= 1U << ring->slots[i & (SLOTS - 1)].group;
	while (groups) {
		send_group(ring, __builtin_ctz(groups), from, to);
		groups &= groups - 1;
	}
	atomic_store_explicit(&ring->tail, to, memory_order_release);
}

static bool try_empty(struct ring *ring)
{
	if (atomic_flag_test_and_set_explicit(&ring->busy, memory_order_acquire))
		return false;
	empty(ring);
	atomic_flag_clear_explicit(&ring->busy, memory_order_release);
	return true;
}

/* `from`: owned or orphan. Two flushes may meet at an orphan; one of them gives it back. */
static void give_back(struct ring *ring, uint32_t from)
{
	atomic_fetch_add_explicit(
		&launches_elsewhere,
		atomic_exchange_explicit(&ring->launches, 0, memory_order_relaxed),
		memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&ring->state, &from, RING_FREE,
						memory_order_release, memory_order_relaxed);
}

/* Called by pthread as a thread that owns a ring ends. */
static void thread_ends(void *value)
{
	struct ring *ring = value;
	int saved = errno;

	if (try_empty(ring))
		give_back(ring, RING_OWNED);
	else
		atomic_store_explicit(&ring->state, RING_ORPHAN, memory_order_release);
	errno = saved;
}

int rings__prepare(void)
{
	int error = pthread_key_create(&key, thread_ends);

	key_made = !error;
	return -error;
}

static struct ring *take(void)
{
	for (uint32_t i = 0; rings && i < RINGS; i++) {
		uint32_t used = atomic_load_explicit(&rings_used, memory_order_relaxed);
		uint32_t state = RING_FREE;

		if (!atomic_compare_exchange_strong_explicit(&rings[i].state, &state, RING_OWNED,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		while (used <= i && !atomic_compare_exchange_weak(&rings_used, &used, i + 1))
			;
		rings[i].tid = gettid();
		if (!pthread_setspecific(key, &rings[i]))
			return &rings[i];
		give_back(&rings[i], RING_OWNED);
		return NULL;
	}
	return NULL;
}

struct ring *rings__mine(void)
{
	struct ring *ring = key_made ? pthread_getspecific(key) : NULL;

	return ring ? ring : take();
}

uint32_t ring__tid(const struct ring *ring)
{
	return ring ? ring->tid : (uint32_t)gettid();
}

void ring__count_launch(struct ring *ring)
{
	if (ring)
		atomic_store_explicit(&ring->launches,
				      atomic_load_explicit(&ring->launches, memory_order_relaxed) +
					      1,
				      memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&launches_elsewhere, 1, memory_order_relaxed);
}

uint64_t rings__launches(void)
{
	uint64_t sum = atomic_load_explicit(&launches_elsewhere, memory_order_relaxed);
	uint32_t used = atomic_load_explicit(&rings_used, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++)
		sum += atomic_load_explicit(&rings[i].launches, memory_order_relaxed);
	return sum;
}

void ring__append(struct ring *ring, unsigned int group, const struct cuda_record *record)
{
	uint32_t head, pending;
	struct slot *slot;

	if (!ring) {
		batch__send_one(group, record);
		return;
	}
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	pending = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
	if (pending >= FLUSH_AT && try_empty(ring))
		pending = 0;
	if (pending >= SLOTS) {
		batch__send_one(group, record);
		return;
	}
	slot = &ring->slots[head & (SLOTS - 1)];
	slot->group = group;
	memcpy(slot->record, record, record->size);
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

static bool is_empty(const struct ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed) ==
	       atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

void rings__flush(void)
{
	uint32_t used = atomic_load_explicit(&rings_used, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++) {
		struct ring *ring = &rings[i];
		uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);

		if (state == RING_FREE || (state == RING_OWNED && is_empty(ring)))
			continue;
		if (try_empty(ring) && state == RING_ORPHAN)
			give_back(ring, RING_ORPHAN);
	}
}
