// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a window costs is nearly the same however long it is: the switching. So the distance of
 * windows is what can be chosen. It grows at once, and shrinks by one step at a time, each after
 * some windows: the queue of a program decides how long CUPTI takes to stop, and that changes.
 */
#include "cuda-trace/profile/pc/pc_rate.h"

#include <stddef.h>
#include "libcupti-usdt/probes.h"

#define NUMBER(ms, a) ms,
#define ENOUGH	      3 /* windows */
#define MS	      1000000.0

static const uint32_t periods[] = {CUDA_SAMPLE_EVERY(NUMBER, )};

#define PERIODS (sizeof(periods) / sizeof(periods[0]))

void pc_rate__window(struct pc_pace *pace, uint64_t held_ns)
{
	pace->windows++;
	pace->held_ns += held_ns;
}

/* Whatever order they are in. */
static uint32_t least_above(double ms)
{
	uint32_t least = 0, largest = 0;

	for (size_t i = 0; i < PERIODS; i++) {
		if (periods[i] > largest)
			largest = periods[i];
		if (periods[i] >= ms && (!least || periods[i] < least))
			least = periods[i];
	}
	return least ? least : largest;
}

static uint32_t next_below(uint32_t period)
{
	uint32_t below = 0;

	for (size_t i = 0; i < PERIODS; i++)
		if (periods[i] < period && periods[i] > below)
			below = periods[i];
	return below ? below : period;
}

uint32_t pc_rate__period(struct pc_pace *pace)
{
	double wants;
	uint32_t fits;

	if (!(pace->limit > 0) || pace->windows < ENOUGH)
		return pace->every_ms;
	wants = pace->held_ns / MS / pace->windows / pace->limit;
	fits = least_above(wants);
	pace->too_expensive = fits < wants;
	if (fits < pace->every_ms)
		fits = next_below(pace->every_ms);
	pace->every_ms = fits;
	pace->windows = pace->held_ns = 0;
	return fits;
}
