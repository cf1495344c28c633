/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring as its owner sees it in each launch; whatever costs more is behind rings.h. On the thread
 * that owns it.
 */
#ifndef LIBCUPTI_USDT_EMIT_RING_H
#define LIBCUPTI_USDT_EMIT_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/base/inner_graphs.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/stack_probes.h"

/* Power of 2. The agent's thread comes each millisecond if it can; one that comes late must not let
 * the owner send for itself, as was done for half of all launches on two CPUs when this was 512. */
#define RING_SLOTS 1024U
#define RING_FLUSH_AT \
	(RING_SLOTS / 4 * 3) /* for the owner; the agent's thread comes earlier if it can */

#define ONE(probe, period) +1
#define RING_STACKS	   (0 CUDA_STACK_PROBES(ONE))

/* Beside the group in struct ring's groups. */
#define SLOT_SETTLED 0x40 /* its timestamps are ns */
#define SLOT_SENT    0x80 /* it has a number: seen, or counted as lost */
#define SLOT_GROUP   0x3f
_Static_assert(CUDA_GROUP_COUNT <= SLOT_GROUP + 1, "groups fit");

/* All of one size, so that neighbours of one group are a batch as they lie. */
struct slot {
	_Alignas(8) uint8_t record[RING_RECORD_MAX];
};

struct ring {
	/* The owner's own line: what each record needs. */
	_Alignas(64) _Atomic(uint32_t) head;
	uint32_t seen; /* of tail, when the owner last looked: each look may take the line from a
			  core */
	uint32_t tid;
	uint32_t runtime_call;	    /* the one that its owner is in, by correlation; 0 = none */
	_Atomic(uint64_t) launches; /* of all its owners; written by the present one only */
	uint32_t stacks_left;	    /* launches up to the next of which a stack may be due, and */
	uint32_t stacks_wanted;	    /* the probes that this is about; stacks.c has the rest */
	uint32_t stacks_step, stack_distances[RING_STACKS];
	_Atomic(uintptr_t) thread;	     /* the owner's thread pointer; 0: it has ended */
	_Alignas(64) _Atomic(uint32_t) tail; /* written by the holder */
	_Atomic(uint32_t) marked;	     /* behind it: of those from tail on, SLOT_SENT */
	_Atomic(uint32_t) state;
	_Atomic(uintptr_t) holder; /* thread pointer of who empties it; 0 = nobody */
	_Atomic(uint64_t) sending; /* the batch that it sends: union sending; 0 = none */
	uint64_t node_created;	   /* when the owner last created a node of a graph; its own */
	uint64_t node;		   /* the id of that node */
	uint32_t
		replacing; /* the call that gives a node another kernel, by correlation; 0 = none */
	bool asks_driver;  /* the owner is in a call of the driver that the agent makes */
	struct inner_graphs inner;  /* its own, too */
	uint8_t groups[RING_SLOTS]; /* of each record, and how far it has come: SLOT_ */
	struct slot slots[RING_SLOTS];
	struct batch staging; /* the holder's; not on a launching thread's small stack */
};

/*
 * Rings by their owners' thread pointers. A key's value lies behind a call and several lines that
 * nobody else has touched since the last launch; this is one line, and the ring itself is the
 * other. What is not here, as two threads may share a place, the key knows.
 */
#define RING_PLACE_BITS 9
extern _Atomic(struct ring *) rings_by_thread[1 << RING_PLACE_BITS];

#ifdef __x86_64__
/* The processor's ABI has a thread's pointer to itself there. */
static inline uintptr_t ring__thread(void)
{
	uintptr_t thread;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	return thread;
}
#else
static inline uintptr_t ring__thread(void)
{
	return (uintptr_t)pthread_self();
}
#endif

static inline _Atomic(struct ring *) *ring__place(uintptr_t thread)
{
	return &rings_by_thread[(uint64_t)thread * 0x9e3779b97f4a7c15 >> (64 - RING_PLACE_BITS)];
}

/* The calling thread's, or NULL: it has none, or its place is another's. */
static inline struct ring *ring__at_hand(void)
{
	uintptr_t thread = ring__thread();
	struct ring *ring = atomic_load_explicit(ring__place(thread), memory_order_relaxed);

	if (ring && atomic_load_explicit(&ring->thread, memory_order_relaxed) == thread)
		return ring;
	return NULL;
}

static inline uint64_t ring__launches(const struct ring *ring)
{
	return atomic_load_explicit(&ring->launches, memory_order_relaxed);
}

static inline void ring__count(struct ring *ring)
{
	atomic_store_explicit(&ring->launches, ring__launches(ring) + 1, memory_order_relaxed);
}

/* False: none of these probes has its turn at this launch; to find that out is all that most
 * launches have to do with stacks. */
static inline bool ring__stack_may_be_due(struct ring *ring, uint32_t wanted)
{
	return !--ring->stacks_left || ring->stacks_wanted != wanted;
}

static inline bool ring__has_space(const struct ring *ring, uint32_t head)
{
	return head - ring->seen < RING_FLUSH_AT;
}

static inline void *ring__slot(struct ring *ring, uint32_t head, unsigned int group)
{
	ring->groups[head & (RING_SLOTS - 1)] = group;
	return ring->slots[head & (RING_SLOTS - 1)].record;
}

/* What the next record will be written to lies in the cache of the core that sent what was there.
 * Fetching it takes as long as all else that is done for a record, and the launch's own stores
 * would wait behind it; prefetched now, it is here by then. */
static inline void ring__fetch_to_write(void *at)
{
#ifdef __x86_64__
	/* Does nothing where it is not known. The builtin would only fetch to read. */
	__asm__ volatile("prefetchw %0" : "+m"(*(uint8_t *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

/* What lies at head is there to be sent. */
static inline void ring__advance(struct ring *ring, uint32_t head)
{
	struct slot *next = &ring->slots[(head + 1) & (RING_SLOTS - 1)];

	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	ring__fetch_to_write(next);
	ring__fetch_to_write((uint8_t *)next + sizeof(*next) - 1);
}

#endif
