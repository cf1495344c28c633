// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings of host records. One producer (the owner), one consumer at a time (the holder).
 *
 * A probe hit is a trap, and the batch is copied in it, so the agent's thread makes it where it
 * can: it comes the sooner the faster rings fill, and the owner helps itself when three quarters
 * are full.
 *
 * Failure modes: 1. a launching thread waits for the agent: it never does. It only tries to become
 * the holder; when the other side is it the owner goes on appending, and with a full ring it sends
 * its record alone.
 * 2. a thread ends while the agent's thread empties its ring: the ring becomes an orphan, which the
 * next flush releases. 3. threads come and go faster than rings do: with none
 * left a thread sends each record alone: that costs more, and nothing is lost. 4. a thread is
 * cancelled asynchronously, or a signal handler leaves by longjmp(), in the middle of emptying: the
 * ring keeps its holder until that thread ends, which then goes on where it was. One store says
 * that a batch is being sent, between its numbers and its probe: what was numbered is not sent
 * again, and a probe that was not hit leaves a gap, which counts as lost. Until then each record is
 * sent alone once the ring is full, and nothing waits.
 *
 * A pthread key and not a __thread variable: the thread-local storage of a library that is
 * opened late may be allocated at first touch, inside the program's launch.
 */
#include "libcupti-usdt/agent_memory.h"
#include "libcupti-usdt/emit/rings.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/ring.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/stack_probes.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/emit/status.h"

#define RINGS	  RINGS_MAX
#define BATCH_MAX (CUDA_BATCH_MAX / RING_RECORD_MAX)

enum ring_state { RING_FREE, RING_OWNED, RING_ORPHAN };

/* Every host record begins so: both timestamps are converted as it is sent. Those of NVTX contain
 * ns, and parts of its payloads none.
 */
struct stamped {
	struct cuda_record head;
	uint64_t start, end;
};
_Static_assert(offsetof(struct cuda_launch, start) == offsetof(struct stamped, start), "layout");
_Static_assert(offsetof(struct cuda_launch, end) == offsetof(struct stamped, end), "layout");
_Static_assert(offsetof(struct cuda_api, start) == offsetof(struct stamped, start), "layout");
_Static_assert(offsetof(struct cuda_api, end) == offsetof(struct stamped, end), "layout");

_Atomic(struct ring *) rings_by_thread[1 << RING_PLACE_BITS];

static struct ring *rings;
static _Atomic(uint32_t) rings_used;	     /* no ring at or above this index was ever taken */
static _Atomic(uint64_t) launches_elsewhere; /* of threads that have no ring */
static struct cuda_ledger ledger;

_Static_assert(offsetof(struct ring, head) == 0, "struct cuda_ledger");
_Static_assert(offsetof(struct ring, marked) == offsetof(struct ring, tail) + 4, "likewise");
_Static_assert(RINGS <= CUDA_LEDGER_RINGS, "likewise");

int rings__open(void)
{
	void *memory;

	if (rings)
		return 0;
	memory = memory__map(RINGS * sizeof(*rings));
	if (!memory)
		return -ENOMEM;
	rings = memory;
	ledger = (struct cuda_ledger){.rings = (uintptr_t)rings,
				      .bytes = sizeof(*rings),
				      .count = RINGS,
				      .taken = offsetof(struct ring, tail)};
	status__set_ledger((uintptr_t)&ledger);
	return 0;
}

/* What struct ring's sending holds. */
union sending {
	struct {
		uint32_t from;
		uint16_t count, kind; /* kind: the group and 1 */
	};
	uint64_t word;
};
_Static_assert(sizeof(union sending) == sizeof(uint64_t) && RING_SLOTS <= UINT16_MAX, "one store");

static void store_sending(struct ring *ring, union sending sending)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&ring->sending, sending.word, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Twice is as once: the holder may have been cancelled in it. */
static void mark_sent(struct ring *ring, union sending sending)
{
	for (uint32_t i = sending.from; i != sending.from + sending.count; i++) {
		uint8_t *group = &ring->groups[i & (RING_SLOTS - 1)];
		uint32_t marked = atomic_load_explicit(&ring->marked, memory_order_relaxed);

		if ((*group & SLOT_GROUP) + 1 != sending.kind || *group & SLOT_SENT)
			continue;
		*group |= SLOT_SENT;
		atomic_store_explicit(&ring->marked, marked + 1, memory_order_relaxed);
	}
}

/* The group's records between two slots; `count` of them are at `records`. */
static void send(struct ring *ring, unsigned int group, uint32_t from, uint32_t to,
		 const void *records, uint32_t bytes, uint32_t count)
{
	struct batch_numbers numbers = batch__number(group, count);
	union sending sending = {.from = from, .count = to - from, .kind = group + 1};

	store_sending(ring, sending);
	mark_sent(ring, sending);
	batch__hit(&numbers, records, bytes);
	store_sending(ring, (union sending){});
}

static void settle(void *record)
{
	struct stamped *stamped = record;

	if (stamped->head.kind == CUDA_RECORD_NVTX || stamped->head.kind == CUDA_RECORD_NVTX_OPEN ||
	    stamped->head.kind == CUDA_RECORD_NVTX_PAYLOAD)
		return;
	stamped->start = timestamps__to_ns(stamped->start);
	stamped->end = timestamps__to_ns(stamped->end);
}

/* From where they lie, in as few hits as the batch's size and the ring's end allow. */
static void send_in_place(struct ring *ring, unsigned int group, uint32_t from, uint32_t to)
{
	while (from != to) {
		uint32_t start = from & (RING_SLOTS - 1), count = to - from;

		if (count > RING_SLOTS - start)
			count = RING_SLOTS - start;
		if (count > BATCH_MAX)
			count = BATCH_MAX;
		send(ring, group, from, from + count, ring->slots[start].record,
		     count * RING_RECORD_MAX, count);
		from += count;
	}
}

/* trim() came while it was written: what is left may be nothing but the size, which is last. */
static bool is_void(const struct cuda_record *record)
{
	return !record->kind || !record->size;
}

static void send_staged(struct ring *ring, unsigned int group, uint32_t from, uint32_t to)
{
	struct batch *staging = &ring->staging;

	if (staging->count)
		send(ring, group, from, to, staging->records, staging->bytes, staging->count);
	staging->count = staging->bytes = 0;
}

static void send_gathered(struct ring *ring, unsigned int group, uint32_t from, uint32_t to)
{
	uint32_t first = from;

	for (uint32_t i = from; i != to; i++) {
		struct cuda_record *record = (void *)ring->slots[i & (RING_SLOTS - 1)].record;

		if ((ring->groups[i & (RING_SLOTS - 1)] & ~SLOT_SETTLED) != group ||
		    is_void(record))
			continue;
		if (ring->staging.bytes + record->size > sizeof(ring->staging.records)) {
			send_staged(ring, group, first, i);
			first = i;
		}
		batch__add(&ring->staging, group, record);
	}
	send_staged(ring, group, first, to);
}

/* Only the holder. */
static void empty(struct ring *ring)
{
	uint32_t from = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t to = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint32_t groups = 0, voids = 0;
	bool whole = true;

	for (uint32_t i = from; i != to; i++) {
		struct cuda_record *record = (void *)ring->slots[i & (RING_SLOTS - 1)].record;
		uint8_t *group = &ring->groups[i & (RING_SLOTS - 1)];

		whole &= record->size == RING_RECORD_MAX && !is_void(record) &&
			 !(*group & SLOT_SENT);
		groups |= 1U << (*group & SLOT_GROUP);
		voids += is_void(record) && batch__heard(*group & SLOT_GROUP);
		if (!(*group & SLOT_SETTLED))
			settle(record);
		*group |= SLOT_SETTLED;
	}
	if (whole && groups && !(groups & (groups - 1)))
		send_in_place(ring, __builtin_ctz(groups), from, to);
	else
		for (; groups; groups &= groups - 1)
			send_gathered(ring, __builtin_ctz(groups), from, to);
	if (voids)
		status__lost(CUDA_LOST_INVALID, voids);
	atomic_store_explicit(&ring->marked, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->tail, to, memory_order_release);
}

static bool become_holder(struct ring *ring)
{
	uintptr_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(&ring->holder, &nobody, ring__thread(),
						       memory_order_acquire, memory_order_relaxed);
}

static void release(struct ring *ring)
{
	atomic_store_explicit(&ring->holder, 0, memory_order_release);
}

static bool try_empty(struct ring *ring)
{
	if (!become_holder(ring))
		return false;
	empty(ring);
	release(ring);
	return true;
}

/* A thread that ends is the holder only if it was cancelled as such. */
static void resume(struct ring *ring)
{
	if (atomic_load_explicit(&ring->holder, memory_order_relaxed) != ring__thread())
		return;
	mark_sent(ring, (union sending){.word = atomic_load_explicit(&ring->sending,
								     memory_order_relaxed)});
	store_sending(ring, (union sending){});
	ring->staging.count = ring->staging.bytes = 0;
	empty(ring);
	release(ring);
}

/* `from`: owned or orphan. Two flushes may meet at an orphan; one of them releases it. */
static void release_as(struct ring *ring, uint32_t from)
{
	atomic_compare_exchange_strong_explicit(&ring->state, &from, RING_FREE,
						memory_order_release, memory_order_relaxed);
}

/* On the thread itself. Its place stays another's, if it is. */
static void note_owner(struct ring *ring)
{
	struct ring *nobody = NULL;
	uintptr_t thread = ring__thread();

	atomic_store_explicit(&ring->thread, thread, memory_order_relaxed);
	atomic_compare_exchange_strong(ring__place(thread), &nobody, ring);
}

static void forget_owner(struct ring *ring)
{
	struct ring *expected = ring;

	atomic_store_explicit(&ring->thread, 0, memory_order_relaxed);
	atomic_compare_exchange_strong(ring__place(ring__thread()), &expected, NULL);
}

/* Called by pthread as a thread that owns a ring ends. */
static void thread_ends(void *value)
{
	struct ring *ring = value;
	int saved = errno;

	forget_owner(ring);
	resume(ring);
	if (try_empty(ring))
		release_as(ring, RING_OWNED);
	else
		atomic_store_explicit(&ring->state, RING_ORPHAN, memory_order_release);
	errno = saved;
}

int rings__prepare(void)
{
	int error = pthread_key_create(&hot.ring_key, thread_ends);

	launch_state__detour(DETOUR_NO_KEY, error);
	return -error;
}

static struct ring *find_free(void)
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
		rings[i].tid = syscall(SYS_gettid);
		if (!pthread_setspecific(hot.ring_key, &rings[i])) {
			note_owner(&rings[i]);
			return &rings[i];
		}
		release_as(&rings[i], RING_OWNED);
		return NULL;
	}
	return NULL;
}

static COLD_PATH struct ring *take(void)
{
	int saved = errno;
	struct ring *ring = find_free();

	errno = saved;
	return ring;
}

struct ring *rings__mine(void)
{
	struct ring *ring = NULL;

	if (!(launch_state__detours() & DETOUR_NO_KEY))
		ring = pthread_getspecific(hot.ring_key);
	return ring ? ring : take();
}

uint32_t ring__index(const struct ring *ring)
{
	return ring - rings;
}

uint32_t ring__tid(const struct ring *ring)
{
	return ring ? ring->tid : (uint32_t)syscall(SYS_gettid);
}

void ring__set_runtime_call(struct ring *ring, uint32_t correlation)
{
	if (ring)
		ring->runtime_call = correlation;
}

uint32_t ring__runtime_call(const struct ring *ring)
{
	return ring ? ring->runtime_call : 0;
}

void ring__count_launch(struct ring *ring)
{
	if (ring)
		ring__count(ring);
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

void rings__send_now(unsigned int group, const struct cuda_record *record)
{
	struct slot copy;

	memcpy(copy.record, record, record->size);
	settle(copy.record);
	batch__send_in_place(group, copy.record, record->size, 1);
}

/* The ring looks full, or ready to be sent. False: it is full. */
static COLD_PATH bool make_space(struct ring *ring, uint32_t head)
{
	uint32_t pending;

	ring->seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
	pending = head - ring->seen;
	if (pending >= RING_FLUSH_AT && try_empty(ring)) {
		ring->seen = head;
		return true;
	}
	return pending < RING_SLOTS;
}

void *ring__claim(struct ring *ring, unsigned int group)
{
	uint32_t head;

	if (!ring)
		return NULL;
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	if (ring__has_space(ring, head) || make_space(ring, head))
		return ring__slot(ring, head, group);
	return NULL;
}

void ring__publish(struct ring *ring)
{
	ring__advance(ring, atomic_load_explicit(&ring->head, memory_order_relaxed));
}

void ring__append(struct ring *ring, unsigned int group, const struct cuda_record *record)
{
	uint8_t *slot = ring__claim(ring, group);

	if (!slot) {
		rings__send_now(group, record);
		return;
	}
	memcpy(slot, record, record->size);
	memset(slot + record->size, 0, RING_RECORD_MAX - record->size);
	((struct cuda_record *)slot)->size = RING_RECORD_MAX;
	ring__publish(ring);
}

/* Whole pages of what a ring's owner wrote. The owner may write just now, if a callback was
 * preempted for longer than nobody has listened: its record then is void, and empty() leaves it
 * out. */
static void trim(struct ring *ring)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)ring->slots + page - 1) / page * page;
	uintptr_t to = (uintptr_t)(&ring->staging + 1) / page * page;

	if (!become_holder(ring))
		return;
	empty(ring);
	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
	release(ring);
}

void rings__trim(void)
{
	uint32_t used = atomic_load_explicit(&rings_used, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++)
		trim(&rings[i]);
}

static uint32_t pending_in(const struct ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed) -
	       atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

bool rings__flush(void)
{
	uint32_t used = atomic_load_explicit(&rings_used, memory_order_relaxed), most = 0;

	for (uint32_t i = 0; i < used; i++) {
		struct ring *ring = &rings[i];
		uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);

		uint32_t pending = pending_in(ring);

		if (state == RING_FREE || (state == RING_OWNED && !pending))
			continue;
		most = pending > most ? pending : most;
		if (try_empty(ring) && state == RING_ORPHAN)
			release_as(ring, RING_ORPHAN);
	}
	return most >= RING_SLOTS / 16;
}
