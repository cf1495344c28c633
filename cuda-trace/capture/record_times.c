// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/record_times.h"

#include <stddef.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

/* GPU times are converted, and may lie a little in the future. */
#define SLACK_NS 3600000000000ull

#define SPAN(type)                                                       \
	{                                                                \
		offsetof(struct type, start), offsetof(struct type, end) \
	}
#define MOMENT(type)                                                     \
	{                                                                \
		offsetof(struct type, time), offsetof(struct type, time) \
	}
#define TIMELESS(type) \
	{              \
		0, 0   \
	}

/* Where a kind has its times; {0, 0}: it has none. */
static const struct {
	uint16_t start, end;
} places[] = {
#define RECORD_TIMES(name, number, structure, times) [number] = times(structure),
	CUDA_RECORDS(RECORD_TIMES)
#undef RECORD_TIMES
};

uint64_t record_times__latest(void)
{
	return monotonic__ns() + SLACK_NS;
}

static uint64_t at(const struct cuda_record *record, uint16_t place)
{
	uint64_t time;

	memcpy(&time, (const char *)record + place, sizeof(time));
	return time;
}

bool record_times__are_possible(const struct cuda_record *record, uint64_t latest)
{
	if (record->kind >= sizeof(places) / sizeof(places[0]) || !places[record->kind].start)
		return true;
	return at(record, places[record->kind].start) <= latest &&
	       at(record, places[record->kind].end) <= latest;
}
