// SPDX-License-Identifier: BSD-2-Clause
/*
 * An append-only table: entries lie in an arena and never move or change, slots of a hash table
 * hold their ids and are set once by compare-and-swap. An id is the entry's offset in the arena,
 * in units of 8 bytes.
 *
 * Failure modes: 1. two threads intern one name at once: the loser of the slot uses the winner's
 * entry and leaves its own unused. 2. a batch with an id leaves before the id was announced:
 * whoever finds an entry that is not announced yet announces it too; twice does no harm. 3. a
 * module is unloaded and another kernel's name comes to lie at the same address: CUPTI reports that
 * a program is about to unload kernels, and what is known of addresses is forgotten. 4. names come
 * and go in a way that is not reported to us: an address is believed only after the text there was
 * compared a thousand times, of one in sixteen it still is (of names above CUDA_NAME_MAX the part
 * that travels), and after one that was another's none is believed any more.
 */
#include "libcupti-usdt/emit/interned_names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

#define ARENA_BYTES (2560U << 10)
#define TEXT_BYTES  (ARENA_BYTES / 2)
#define SLOTS	    32768U /* power of 2 */
#define SLOTS_FULL  (SLOTS / 4 * 3)
#define HINTS	    (1U << NAMES_HINT_BITS)
#define SURE	    1000U /* comparisons */
#define UNIT	    8U

_Static_assert(ARENA_BYTES / UNIT < 1U << NAMES_ID_BITS, "ids");

struct entry {
	uint64_t hash;	 /* of the full name */
	uint32_t length; /* of the full name */
	uint32_t stored;
	atomic_bool announced;
	char text[]; /* stored bytes and a NUL */
};

struct table {
	_Atomic(uint32_t) slots[SLOTS];
	/* Lossy: by address of the name; written by many threads. */
	_Atomic(uint64_t) hints[HINTS]; /* NAMES_ID_BITS of id, above them the address's tag */
	_Atomic(uint32_t) compared;
	atomic_bool deceived;
	_Alignas(UNIT) char arena[ARENA_BYTES];
};

static struct table *table;
static _Atomic(uint32_t) arena_used = UNIT; /* id 0 is no name */
static _Atomic(uint32_t) entries;

int interned_names__open(void)
{
	void *memory;

	if (table)
		return 0;
	memory = memory__map(sizeof(*table));
	if (!memory)
		return -ENOMEM;
	table = memory;
	hot.hints = table->hints;
	return 0;
}

static struct entry *entry_of(uint32_t id)
{
	return (struct entry *)(table->arena + (size_t)id * UNIT);
}

const char *interned_names__text(uint32_t id)
{
	static const char none[UNIT];

	return id && table ? entry_of(id)->text : none;
}

static uint64_t hash_of(const char *name, size_t length)
{
	uint64_t hash = 0x9e3779b97f4a7c15 ^ length, word;

	for (; length >= sizeof(word); name += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, name, sizeof(word));
		hash = (hash ^ word) * 0xff51afd7ed558ccd;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, name, length);
	hash = (hash ^ word) * 0xff51afd7ed558ccd;
	return hash ^ hash >> 29;
}

static COLD_PATH void announce(uint32_t id, struct entry *entry)
{
	if (site_wanted(name))
		probe_sites__name(status__instance(), id, entry->text, entry->length);
	atomic_store_explicit(&entry->announced, true, memory_order_release);
}

static uint32_t known(uint32_t id)
{
	struct entry *entry = entry_of(id);

	if (__builtin_expect(!atomic_load_explicit(&entry->announced, memory_order_acquire), 0))
		announce(id, entry);
	return id;
}

/* Reserves space; 0 when the arena is full. */
static uint32_t arena_take(size_t bytes, uint32_t limit)
{
	uint32_t used = atomic_load_explicit(&arena_used, memory_order_relaxed), take;

	take = (bytes + UNIT - 1) / UNIT * UNIT;
	do {
		if (used + take > limit)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&arena_used, &used, used + take, memory_order_relaxed, memory_order_relaxed));
	return used / UNIT;
}

static uint32_t entry_make(const char *name, size_t length, uint64_t hash, uint32_t limit)
{
	size_t stored = length < CUDA_NAME_MAX ? length : CUDA_NAME_MAX - 1;
	uint32_t id = arena_take(sizeof(struct entry) + stored + 1, limit);
	struct entry *entry;

	if (!id)
		return 0;
	entry = entry_of(id);
	entry->hash = hash;
	entry->length = length;
	entry->stored = stored;
	memcpy(entry->text, name, stored);
	return id;
}

static bool entry_is(uint32_t id, const char *name, size_t length, uint64_t hash)
{
	const struct entry *entry = entry_of(id);

	return entry->hash == hash && entry->length == length &&
	       !memcmp(entry->text, name, entry->stored);
}

static COLD_PATH uint32_t find_or_add(const char *name, size_t length, uint32_t limit)
{
	uint64_t hash = hash_of(name, length);
	uint32_t made = 0;

	for (uint32_t i = 0, slot = hash; i < SLOTS; i++, slot++) {
		_Atomic(uint32_t) *place = &table->slots[slot & (SLOTS - 1)];
		uint32_t id = atomic_load_explicit(place, memory_order_acquire);

		if (!id && !made) {
			if (atomic_load_explicit(&entries, memory_order_relaxed) >= SLOTS_FULL)
				break;
			made = entry_make(name, length, hash, limit);
			if (!made)
				break;
		}
		if (!id && atomic_compare_exchange_strong_explicit(
				   place, &id, made, memory_order_acq_rel, memory_order_acquire)) {
			atomic_fetch_add_explicit(&entries, 1, memory_order_relaxed);
			return made;
		}
		if (entry_is(id, name, length, hash))
			return id;
	}
	status__lost(CUDA_LOST_NAMES_FULL, 1);
	return 0;
}

static bool is_text_of(uint32_t id, const char *name)
{
	const struct entry *entry = entry_of(id);

	return entry->length == entry->stored ? !strcmp(entry->text, name)
					      : !strncmp(entry->text, name, entry->stored);
}

/* Counts do not add up where threads meet; they need not. */
static bool hint_holds(uint32_t id, const char *name)
{
	uint32_t compared = atomic_load_explicit(&table->compared, memory_order_relaxed) + 1;

	if (!is_text_of(id, name)) {
		atomic_store(&table->deceived, true);
		atomic_store(&hot.hints_hold, false);
		return false;
	}
	if (compared <= SURE)
		atomic_store_explicit(&table->compared, compared, memory_order_relaxed);
	if (compared == SURE) {
		atomic_store(&hot.hints_hold, true);
		if (atomic_load(&table->deceived))
			atomic_store(&hot.hints_hold, false);
	}
	return true;
}

uint32_t interned_names__intern(const char *name)
{
	uint64_t mixed = interned_names__mixed(name), hint;
	_Atomic(uint64_t) *place;
	uint32_t id;

	if (!name || !*name || !table)
		return 0;
	place = &table->hints[interned_names__place(mixed)];
	hint = interned_names__has_tag(name) ? atomic_load_explicit(place, memory_order_acquire)
					     : 0;
	id = interned_names__id(hint);
	if (id && hint >> NAMES_ID_BITS == interned_names__tag(mixed) && hint_holds(id, name))
		return known(id);
	id = find_or_add(name, strlen(name), ARENA_BYTES);
	if (!id)
		return 0;
	known(id);
	if (interned_names__has_tag(name))
		atomic_store_explicit(place, interned_names__tag(mixed) << NAMES_ID_BITS | id,
				      memory_order_release);
	return id;
}

void interned_names__forget(void)
{
	for (uint32_t i = 0; table && i < HINTS; i++)
		atomic_store_explicit(&table->hints[i], 0, memory_order_relaxed);
}

uint32_t interned_names__intern_text(const char *text)
{
	uint32_t id;

	if (!text || !*text || !table)
		return 0;
	id = find_or_add(text, strlen(text), TEXT_BYTES);
	return id ? known(id) : 0;
}

uint32_t interned_names__count(void)
{
	return atomic_load_explicit(&entries, memory_order_relaxed);
}

void interned_names__replay(void)
{
	if (!table)
		return;
	for (uint32_t i = 0; i < SLOTS && site_wanted(name); i++) {
		uint32_t id = atomic_load_explicit(&table->slots[i], memory_order_acquire);

		if (id)
			announce(id, entry_of(id));
	}
}
