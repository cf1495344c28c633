// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hash table of byte strings with open addressing; numbers are places in a list. It is not a
 * key_index, whose larger slots make it a seventh slower, and samples come by the million.
 */
#include "cuda-trace/base/intern.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "cuda-trace/base/array_grow.h"

struct item {
	uint32_t hash;
	uint32_t size;
	/* The bytes, aligned for what callers keep here. */
	_Alignas(8) uint8_t data[];
};

struct interned {
	struct item **items;
	uint32_t *table; /* index of the item + 1, 0 = free */
	uint32_t count, capacity, item_capacity, most;
	size_t bytes, most_bytes; /* of items, as malloc() makes them */
};

struct interned *intern__new(uint32_t most, size_t most_bytes)
{
	struct interned *set = calloc(1, sizeof(*set));

	if (set) {
		set->most = most;
		set->most_bytes = most_bytes;
	}
	return set;
}

static uint32_t *slot_of(const struct interned *set, uint32_t hash, const void *data, size_t size)
{
	uint32_t mask = set->capacity * 2 - 1, i = hash & mask;

	for (; set->table[i]; i = (i + 1) & mask) {
		const struct item *item = set->items[set->table[i] - 1];

		if (item->hash == hash && item->size == size && !memcmp(item->data, data, size))
			break;
	}
	return &set->table[i];
}

static bool grow(struct interned *set)
{
	uint32_t capacity = set->capacity ? set->capacity * 2 : 64;
	uint32_t *table = calloc(capacity * 2, sizeof(*table));

	if (!table || !array_grow__to(set->items, set->item_capacity, capacity)) {
		free(table);
		return false;
	}
	free(set->table);
	set->table = table;
	set->capacity = capacity;
	for (uint32_t i = 0; i < set->count; i++)
		*slot_of(set, set->items[i]->hash, set->items[i]->data, set->items[i]->size) =
			i + 1;
	return true;
}

static uint32_t hash_of(const void *data, size_t size)
{
	return crc32(0, data, size) * 0x9e3779b9u;
}

uint32_t intern__find(const struct interned *set, const void *data, size_t size)
{
	return set->capacity ? *slot_of(set, hash_of(data, size), data, size) : 0;
}

uint32_t intern__number(struct interned *set, const void *data, size_t size, bool *is_new)
{
	size_t bytes = sizeof(struct item) + size + 2 * sizeof(void *);
	uint32_t hash = hash_of(data, size), *slot;
	struct item *item;

	if (is_new)
		*is_new = false;
	if (set->count == set->capacity && set->count < set->most && !grow(set))
		return 0;
	slot = slot_of(set, hash, data, size);
	if (*slot || set->count == set->most || bytes > set->most_bytes - set->bytes)
		return *slot;
	item = malloc(sizeof(*item) + size);
	if (!item)
		return 0;
	item->hash = hash;
	item->size = size;
	memcpy(item->data, data, size);
	set->bytes += bytes;
	set->items[set->count++] = item;
	*slot = set->count;
	if (is_new)
		*is_new = true;
	return set->count;
}

const void *intern__at(const struct interned *set, uint32_t number, size_t *size)
{
	const struct item *item = set->items[number - 1];

	if (size)
		*size = item->size;
	return item->data;
}

uint32_t intern__count(const struct interned *set)
{
	return set->count;
}

void intern__free(struct interned *set)
{
	if (!set)
		return;
	for (uint32_t i = 0; i < set->count; i++)
		free(set->items[i]);
	free(set->items);
	free(set->table);
	free(set);
}
