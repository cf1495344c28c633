/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All other calls of the two APIs, by family. api_calls__learn() on the agent's own thread (or
 * before it exists), the rest on any thread.
 */
#ifndef LIBCUPTI_USDT_TRACE_API_CALLS_H
#define LIBCUPTI_USDT_TRACE_API_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/rings.h"

#define API_CBIDS 1024 /* a domain has some 520 (runtime) and 810 (driver) in 13.0 */

/* The groups of calls that failed. */
#define API_CALLS_FAILED (1U << CUDA_GROUP_API_ERROR | 1U << CUDA_GROUP_MEMORY_ERROR)

/* The groups of all families, and those above, as a bit mask. */
uint32_t api_calls__groups(void);
/* Which of those above have a call of this family that failed. */
uint32_t api_calls__failures(unsigned int family);
/* Asks libcupti for the names of its calls and sorts them into families; once. */
void api_calls__learn(void);
/* What a driver call does beside launching kernels that PC sampling must know of. */
enum api_calls_sort {
	API_CALLS_ANY,
	API_CALLS_FILL, /* fills or copies memory by a kernel of the driver's own */
	API_CALLS_CAPTURE_BEGINS,
	API_CALLS_CAPTURE_ENDS,
};
enum api_calls_sort api_calls__sort(uint32_t cbid);
/* The group of a call; CUDA_GROUP_API_OTHER for one that nobody knows. 0 if there is no such call.
 */
unsigned int api_calls__group(int domain, uint32_t cbid);
/* The record of a call that returns now, without its kind and group. */
struct cuda_api api_calls__describe(struct ring *ring, int domain, uint32_t cbid,
				    const struct cupti_callback_data *data, uint64_t start,
				    uint64_t end);
/* Whether calls of a family, or those that fail, are wanted: only then families are learnt. */
static inline bool api_calls__wanted(uint32_t groups)
{
	return groups & api_calls__groups();
}

/* Called as a call returns; groups: those that are on, of which some are wanted. */
void api_calls__record(struct ring *ring, uint32_t groups, int domain, uint32_t cbid,
		       const struct cupti_callback_data *data, uint64_t start, uint64_t end);

#endif
