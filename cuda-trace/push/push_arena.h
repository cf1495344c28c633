/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is freed all at once. */
#ifndef CUDA_TRACE_PUSH_PUSH_ARENA_H
#define CUDA_TRACE_PUSH_PUSH_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct push_block;

/* All zero is an empty one. */
struct push_arena {
	struct push_block *blocks;
	bool failed; /* there was no memory once */
};

/* Zero, aligned for everything; NULL = no memory. */
void *push_arena__get(struct push_arena *arena, size_t size);
char *push_arena__text(struct push_arena *arena, const char *text);
void push_arena__free(struct push_arena *arena);

#endif
