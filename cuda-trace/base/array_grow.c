// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/array_grow.h"

#include <stdlib.h>

void *room__for_one(void *array, uint32_t *room, uint32_t count, size_t size)
{
	void *larger;

	if (count < *room)
		return array;
	larger = reallocarray(array, *room ? (size_t)*room * 2 : 64, size);
	if (larger)
		*room = *room ? *room * 2 : 64;
	return larger;
}
