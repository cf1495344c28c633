/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each key came. One thread. */
#ifndef CUDA_TRACE_PROFILE_PC_KEY_COUNTS_H
#define CUDA_TRACE_PROFILE_PC_KEY_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/base/intern.h"

/* All zero is an empty one. */
struct key_counts {
	struct interned *keys;
	uint64_t *counts; /* by the number of the key */
	uint32_t capacity;
};

/* At most so many keys, of so many bytes in all. False: no memory. */
bool key_counts__init(struct key_counts *counts, uint32_t most, size_t bytes);
/* The key's number, 0 = full. */
uint32_t key_counts__add(struct key_counts *counts, const void *key, size_t size, uint64_t more);
void key_counts__free(struct key_counts *counts);

#endif
