// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/energy/energy_reading.h"

#define MIN_NS	     80000000ull
#define MAX_NS	     250000000ull /* a counter that does not change */
#define MAX_PAUSE_MS 100

enum energy_reading_kind energy_reading__next(struct energy_reading *reading, uint64_t time,
					      uint64_t millijoules, bool last)
{
	uint64_t before = reading->millijoules, length = time - reading->time;
	bool first = !reading->time, changed = millijoules != reading->seen;

	reading->seen = millijoules;
	if (!first && millijoules >= before && !last && length < MAX_NS &&
	    (!changed || length < MIN_NS))
		return ENERGY_NO_STEP;
	reading->time = time;
	reading->millijoules = millijoules;
	if (first)
		return ENERGY_NO_STEP;
	return millijoules < before ? ENERGY_BACKWARDS : ENERGY_STEP;
}

int energy_reading__pause_ms(uint64_t ns)
{
	uint64_t ms = ns * 50 / 1000000;

	return ms < ENERGY_READ_MS ? ENERGY_READ_MS : ms > MAX_PAUSE_MS ? MAX_PAUSE_MS : (int)ms;
}
