// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/array_grow.h"

#include <stdlib.h>
#include <string.h>

bool array_grow__fit(void **array, size_t *capacity, size_t needed, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : 16;
	void *larger;

	if (needed <= *capacity)
		return true;
	if (needed > ARRAY_GROW_MAX)
		return false;
	while (more < needed)
		more *= 2;
	larger = reallocarray(*array, more, size);
	if (!larger)
		return false;
	*array = larger;
	*capacity = more;
	return true;
}

bool array_grow__fit_zeroed(void **array, size_t *capacity, size_t needed, size_t size)
{
	size_t before = *capacity;

	if (!array_grow__fit(array, capacity, needed, size))
		return false;
	memset((char *)*array + before * size, 0, (*capacity - before) * size);
	return true;
}

bool array_grow__fit_counted(void **array, size_t count, size_t size)
{
	void *larger;

	if (count & (count - 1))
		return true;
	larger = count < ARRAY_GROW_MAX ? reallocarray(*array, count ? count * 2 : 1, size) : NULL;
	if (larger)
		*array = larger;
	return larger;
}
