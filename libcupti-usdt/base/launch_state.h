/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The launch state: code and data that every launch uses, kept together. Between two launches the
 * driver and CUPTI touch more memory than the first-level cache holds, so the cost of a launch is
 * less its instructions than the number of cache lines, of code and of data, that it uses.
 */
#ifndef LIBCUPTI_USDT_BASE_LAUNCH_STATE_H
#define LIBCUPTI_USDT_BASE_LAUNCH_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"

/* Functions that each launch executes, and those that it almost never does. */
#define HOT_PATH	    __attribute__((hot))
#define COLD_PATH	    __attribute__((cold, noinline))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Detours: reasons why launches take the slow path. The module that has one sets and clears it. */
enum detour {
	DETOUR_DEAF = 1 << 0,	 /* CUPTI is gone, or this is a forked child: control.c */
	DETOUR_DRIVER = 1 << 1,	 /* a call may be the agent's own: driver.c */
	DETOUR_PC = 1 << 2,	 /* launches tell which contexts exist: pc_contexts.c */
	DETOUR_GROUPS = 1 << 3,	 /* no record of it, or more than one: callbacks.c */
	DETOUR_OTHERS = 1 << 4,	 /* a readable probe is attached: probe_sites.c */
	DETOUR_CLOCK = 1 << 5,	 /* timestamps are not the processor's counter: timestamps.c */
	DETOUR_NO_KEY = 1 << 6,	 /* threads cannot find their rings: rings.c */
	DETOUR_BARRIER = 1 << 7, /* launches wait: switch_barrier.c */
	DETOUR_CAPTURE = 1 << 8, /* a stream is captured: callbacks.c */
};

/* One cache line that each launch reads, and that is not written meanwhile. */
struct hot {
	_Alignas(64) _Atomic(uint32_t) detours;	     /* enum detour; 0: the short way */
	pthread_key_t ring_key;			     /* rings.c */
	_Atomic(uint64_t) since, mix;		     /* callbacks.c */
	_Atomic(uint64_t) *hints;		     /* names.c */
	_Atomic(_Atomic(uint64_t) *) launched_names; /* kernel_names.c; NULL: nobody asks */
	_Atomic(uint32_t) stack_probes;		     /* sites.c */
	_Atomic(uint8_t) launch_flags;		     /* of each record: kinds.c */
	atomic_bool hints_hold;			     /* names.c */
	atomic_bool launches_unsent; /* only their stacks are wanted: probe_sites.c */
};
extern struct hot hot;

static inline uint32_t launch_state__detours(void)
{
	return atomic_load_explicit(&hot.detours, memory_order_relaxed);
}

/* False for good in a forked child, after a fatal state, and once the program has ended. On any
 * thread. */
static inline bool launch_state__is_listening(void)
{
	return !(launch_state__detours() & DETOUR_DEAF);
}

/* Kernels get their GPU times; on any thread. */
static inline bool launch_state__times_kernels(void)
{
	return atomic_load_explicit(&hot.launch_flags, memory_order_relaxed) & CUDA_LAUNCH_TIMED;
}

/* What an entry keeps with its call, and what its exit makes of that. */
static inline uint64_t launch_state__mixed(uint64_t stamp)
{
	return stamp ^ atomic_load_explicit(&hot.mix, memory_order_relaxed);
}

/* For the callback's data. The last bit of a launch's start says whether it was held. */
static inline uint64_t launch_state__start(uint64_t stamp, bool held)
{
	return launch_state__mixed((stamp & ~1ULL) | held);
}

static inline bool launch_state__believes(uint64_t start, uint64_t end)
{
	return start >= atomic_load_explicit(&hot.since, memory_order_relaxed) && start <= end;
}

static inline void launch_state__detour(enum detour reason, bool on)
{
	if (!!(launch_state__detours() & reason) == on)
		return; /* and the line stays with the launching cores */
	if (on)
		atomic_fetch_or(&hot.detours, reason);
	else
		atomic_fetch_and(&hot.detours, ~(uint32_t)reason);
}

#endif
