/* SPDX-License-Identifier: BSD-2-Clause */
/* What the simulated range profiler keeps of a range. */
#ifndef TESTS_SIMCUDA_CUPTI_RANGES_H
#define TESTS_SIMCUDA_CUPTI_RANGES_H

#include <stdint.h>

#define RANGE_KINDS 4

/* Which kernels ran in it, and how often; the last one ends then. */
struct range {
	uint64_t end;
	uint32_t kinds;
	struct {
		char name[64];
		uint32_t times;
	} kernels[RANGE_KINDS];
};

void range__add(struct range *to, const char *kernel, uint32_t times);
void range__join(struct range *to, const struct range *from);
/* A sum is of all kernels, and anything else that of the first. */
double range__value(const struct range *range, const char *metric);

#endif
