// SPDX-License-Identifier: BSD-2-Clause
/* A table by correlation id: these are consecutive numbers. Used by idle.c. */
#include "cuda-trace/idle/open_launches.h"

#include <stdlib.h>

struct open_launches {
	struct {
		uint32_t correlation;
		uint64_t start; /* 0 = its work was reported */
	} slots[OPEN_LAUNCHES];
};

struct open_launches *open_launches__new(void)
{
	return calloc(1, sizeof(struct open_launches));
}

void open_launches__free(struct open_launches *launches)
{
	free(launches);
}

/* Numbers wrap. */
static int is_newer(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static void put(struct open_launches *launches, uint32_t correlation, uint64_t start)
{
	uint32_t i = correlation % OPEN_LAUNCHES;

	/* Known already: then it is done, or reported twice. */
	if (launches->slots[i].correlation &&
	    !is_newer(correlation, launches->slots[i].correlation))
		return;
	launches->slots[i].correlation = correlation;
	launches->slots[i].start = start;
}

void open_launches__add(struct open_launches *launches, uint32_t correlation, uint64_t start)
{
	if (launches && correlation)
		put(launches, correlation, start);
}

void open_launches__done(struct open_launches *launches, uint32_t correlation)
{
	if (!launches || !correlation)
		return;
	put(launches, correlation, 0);
	if (launches->slots[correlation % OPEN_LAUNCHES].correlation == correlation)
		launches->slots[correlation % OPEN_LAUNCHES].start = 0;
}

uint64_t open_launches__first(const struct open_launches *launches, uint64_t since)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; launches && i < OPEN_LAUNCHES; i++)
		if (launches->slots[i].start >= since && launches->slots[i].start &&
		    launches->slots[i].start < first)
			first = launches->slots[i].start;
	return first;
}
