/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef INLINED_H
#define INLINED_H

#include <stdint.h>

static inline __attribute__((always_inline)) int64_t
inlined_header(int64_t (*call)(void), const int64_t *values,
	       int64_t (*function)(int64_t (*)(void), const int64_t *))
{
	int64_t sum = function(call, values);

	return sum * 3;
}

#endif
