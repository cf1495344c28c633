// SPDX-License-Identifier: BSD-2-Clause
// CUPTI's clock: CLOCK_REALTIME unless SIMCUDA_CLOCK moves it or the client brings its own. The
// simulation runs on CLOCK_MONOTONIC; one offset, taken anew each time that records are written,
// leads from it to CUPTI's.
#include <time.h>
#include "tests/simcuda/cupti/tracer.h"

#define READINGS 8
#define TIGHT_NS 2000 /* good enough */

static _Atomic(CUpti_TimestampFunc) own_clock;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

uint64_t clock__now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* Of several readings the tightest: who loses its CPU in between would be off by that time. */
int64_t clock__offset(void)
{
	CUpti_TimestampFunc function = atomic_load(&own_clock);
	uint64_t width = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < READINGS && width > TIGHT_NS; i++) {
		uint64_t before = clock__now();
		uint64_t there = function ? function() : read_clock(CLOCK_REALTIME);
		uint64_t after = clock__now();

		if (after - before < width) {
			width = after - before;
			offset = there - (before + width / 2);
		}
	}
	return offset + (function ? 0 : settings__get()->clock_offset);
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = clock__now() + clock__offset();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampFunc function)
{
	atomic_store(&own_clock, function);
	state__log("timestamp_callback");
	return CUPTI_SUCCESS;
}
