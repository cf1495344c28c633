/* SPDX-License-Identifier: BSD-2-Clause */
/* What calls of CUPTI's profilers have in common: their parameters, their failures, memory. */
#ifndef LIBCUPTI_USDT_PROFILE_RANGE_CALLS_H
#define LIBCUPTI_USDT_PROFILE_RANGE_CALLS_H

#include <stddef.h>
#include <sys/mman.h>

#include "libcupti-usdt/profile/counter_collector.h"
#include "libcupti-usdt/cupti/cupti_range.h"

/* P(structure, its last field, further fields): the parameters of a call. */
#define P(type, last, ...)                                     \
	{                                                      \
		.size = CUPTI_SIZE_OF(type, last), __VA_ARGS__ \
	}

/* 0, or -1 and the failure. */
static inline int failed(struct range_failure *failure, int result, const char *function)
{
	if (!result)
		return 0;
	*failure = (struct range_failure){.result = result, .function = function};
	return -1;
}

/* NULL, and the failure. */
static inline void *map(size_t size, struct range_failure *failure)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		return memory;
	failed(failure, CUPTI_OUT_OF_MEMORY, "mmap");
	return NULL;
}

#endif
