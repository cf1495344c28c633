/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interned names: a string is emitted once, records have its id. interned_names__intern() on any
 * thread, takes no lock, allocates nothing; interned_names__open() and interned_names__replay() on
 * the agent's own thread.
 */
#ifndef LIBCUPTI_USDT_EMIT_INTERNED_NAMES_H
#define LIBCUPTI_USDT_EMIT_INTERNED_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/base/launch_state.h"

int interned_names__open(void);

/* The id of a name, emitted by cuda:name before this returns. 0: no name, or the table is full. */
uint32_t interned_names__intern(const char *name);
/* The same for a kernel's name, which the driver keeps where it is until interned_names__forget(),
 * if it is at hand, else 0; turn: of the calling thread, of which every so-and-so-many looks
 * whether that is true. */
static inline uint32_t interned_names__at_hand(const char *name, uint32_t turn);
/* Kernels were unloaded: new names may have the addresses of old ones. On any thread. */
void interned_names__forget(void);
/* The same for text that a program makes up as it runs (NVTX): may fill half of the table only. */
uint32_t interned_names__intern_text(const char *text);
/* The agent's own copy, resident, so that a tracer can read it. "" for 0. */
const char *interned_names__text(uint32_t id);
/* Emits all names again, for a consumer that attached later. */
void interned_names__replay(void);
uint32_t interned_names__count(void);

/* Distinguishes all addresses that a program can have. */
#define NAMES_ADDRESS_BITS 48
#define NAMES_HINT_BITS	   10
#define NAMES_ID_BITS	   20
#define NAMES_CHECK_EVERY  16

/* An address, mixed: its place among the hints is in the upper bits; the rest, as a hint has it,
 * distinguishes it from the others there. */
static inline uint64_t interned_names__mixed(const char *name)
{
	return (uintptr_t)name * 0x9e3779b97f4a7c15 << (64 - NAMES_ADDRESS_BITS);
}

static inline unsigned int interned_names__place(uint64_t mixed)
{
	return mixed >> (64 - NAMES_HINT_BITS);
}

static inline uint64_t interned_names__tag(uint64_t mixed)
{
	return mixed << NAMES_HINT_BITS >> (64 - NAMES_ADDRESS_BITS + NAMES_HINT_BITS);
}

static inline bool interned_names__has_tag(const char *name)
{
	return !((uintptr_t)name >> NAMES_ADDRESS_BITS);
}

static inline uint32_t interned_names__id(uint64_t hint)
{
	return hint & ((1U << NAMES_ID_BITS) - 1);
}

static inline uint32_t interned_names__at_hand(const char *name, uint32_t turn)
{
	uint64_t mixed = interned_names__mixed(name), hint;

	if (!(turn % NAMES_CHECK_EVERY) || !interned_names__has_tag(name) ||
	    !atomic_load_explicit(&hot.hints_hold, memory_order_relaxed))
		return 0;
	hint = atomic_load_explicit(&hot.hints[interned_names__place(mixed)], memory_order_relaxed);
	return hint >> NAMES_ID_BITS == interned_names__tag(mixed) ? interned_names__id(hint) : 0;
}

#endif
