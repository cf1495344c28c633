// SPDX-License-Identifier: BSD-2-Clause
// A library without frame pointers, as distributions build theirs: its functions keep so many
// values across their calls that the frame pointer's register holds one of them.
#include <stdint.h>

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif
#define SHOWN __attribute__((visibility("default"))) FUNCTION

SHOWN int64_t library_outer(int64_t (*call)(void), const int64_t *values);

/* Without a name once the library is stripped. */
static FUNCTION int64_t library_inner(int64_t (*call)(void), const int64_t *values)
{
	int64_t a = values[0] | 1, b = values[1] | 1, c = values[2] | 1, d = values[3] | 1,
		e = values[4] | 1, f = values[5] | 1;
	int64_t sum = call();

	return sum + a * b + c * d + e * f + (a ^ d) + (b ^ e) + (c ^ f);
}

int64_t library_outer(int64_t (*call)(void), const int64_t *values)
{
	int64_t a = values[5] | 2, b = values[4] | 2, c = values[3] | 2, d = values[2] | 2,
		e = values[1] | 2, f = values[0] | 2;
	int64_t sum = library_inner(call, values);

	return sum + a * b + c * d + e * f + (a ^ d) + (b ^ e) + (c ^ f);
}
