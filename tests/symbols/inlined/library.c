// SPDX-License-Identifier: BSD-2-Clause
// A library for tests/workloads/frameless: functions that the compiler inlines, in each other, in
// blocks, and twice.
#include "inlined.h"

#define NOINLINE __attribute__((noinline))
#define INLINE	 static inline __attribute__((always_inline))

INLINE int64_t inlined_twice(int64_t (*call)(void), int64_t salt)
{
	int64_t sum = call();

	return sum + salt;
}

INLINE int64_t inlined_block(int64_t (*call)(void), const int64_t *values)
{
	int64_t sum = 0;

	if (values[0] >= 0) {
		int64_t first = values[1];

		sum = inlined_twice(call, first) ^ first;
	}
	return sum;
}

static NOINLINE int64_t library_inner(int64_t (*call)(void), const int64_t *values)
{
	return inlined_header(call, values, inlined_block) + values[2];
}

int64_t library_outer(int64_t (*call)(void), const int64_t *values)
{
	int64_t a = values[5] | 2, sum;

	sum = library_inner(call, values);
	return inlined_twice(call, a) + sum;
}
