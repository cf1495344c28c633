// SPDX-License-Identifier: BSD-2-Clause
/*
 * Open addressing. The keys are often another process's: the worst that they can do by falling
 * together is to be as slow as a list.
 */
#include "cuda-trace/base/key_index.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put(struct key_index *index, uint64_t key, uint32_t number)
{
	size_t at = key * 0x9e3779b97f4a7c15ull >> 32 & (index->capacity - 1);

	while (index->slots[at].is_used)
		at = (at + 1) & (index->capacity - 1);
	index->slots[at] = (struct key_slot){key, number, true};
}

static bool grow(struct key_index *index)
{
	struct key_index larger = {.count = index->count,
				   .capacity = index->capacity ? index->capacity * 2 : 64};

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < index->capacity; i++)
		if (index->slots[i].is_used)
			put(&larger, index->slots[i].key, index->slots[i].number);
	free(index->slots);
	*index = larger;
	return true;
}

bool key_index__add(struct key_index *index, uint64_t key, uint32_t number)
{
	if (index->count * 2 >= index->capacity && !grow(index))
		return false;
	put(index, key, number);
	index->count++;
	return true;
}

uint64_t key_index__mix_text(uint64_t hash, const char *text)
{
	return key_index__mix(hash, crc32(0, (const Bytef *)text, strlen(text)));
}

void key_index__free(struct key_index *index)
{
	free(index->slots);
	*index = (struct key_index){};
}
