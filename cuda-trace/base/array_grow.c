// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/array_grow.h"

#include <stdlib.h>

void *array_grow__for_one(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
	void *larger;

	if (count < *capacity)
		return array;
	larger = reallocarray(array, *capacity ? (size_t)*capacity * 2 : 64, size);
	if (larger)
		*capacity = *capacity ? *capacity * 2 : 64;
	return larger;
}
