// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_arena.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 65536
#define ALIGNMENT   16

struct push_block {
	struct push_block *next;
	size_t used, size;
	_Alignas(ALIGNMENT) char data[];
};

void *push_arena__get(struct push_arena *arena, size_t size)
{
	struct push_block *block = arena->blocks;
	size_t needed = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	void *found;

	if (!block || block->size - block->used < needed) {
		size_t bytes = needed > BLOCK_BYTES ? needed : BLOCK_BYTES;

		block = calloc(1, sizeof(*block) + bytes);
		if (!block) {
			arena->failed = true;
			return NULL;
		}
		block->size = bytes;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	found = block->data + block->used;
	block->used += needed;
	return found;
}

char *push_arena__text(struct push_arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = push_arena__get(arena, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void push_arena__free(struct push_arena *arena)
{
	while (arena->blocks) {
		struct push_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
}
