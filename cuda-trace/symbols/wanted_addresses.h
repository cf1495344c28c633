/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses in a file that are in call stacks: parsers of its debug information look for them. */
#ifndef CUDA_TRACE_SYMBOLS_WANTED_ADDRESSES_H
#define CUDA_TRACE_SYMBOLS_WANTED_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/base/sorted.h"

struct wanted_addresses {
	const uint64_t *list; /* they ascend */
	size_t count;
};

/* The first that is not below. */
static inline size_t wanted_addresses__first(const struct wanted_addresses *wanted,
					     uint64_t address)
{
	return sorted__count_before(wanted->count, i, wanted->list[i] < address);
}

#endif
