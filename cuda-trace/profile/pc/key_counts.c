// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/pc/key_counts.h"

#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"

bool key_counts__init(struct key_counts *counts, uint32_t most, size_t bytes)
{
	counts->keys = intern__new(most, bytes);
	return counts->keys;
}

uint32_t key_counts__add(struct key_counts *counts, const void *key, size_t size, uint64_t more)
{
	uint32_t number = intern__number(counts->keys, key, size, NULL);

	if (!array_grow__zeroed(counts->counts, counts->capacity, (size_t)number + 1))
		return 0;
	if (number)
		counts->counts[number] += more;
	return number;
}

void key_counts__free(struct key_counts *counts)
{
	intern__free(counts->keys);
	free(counts->counts);
}
