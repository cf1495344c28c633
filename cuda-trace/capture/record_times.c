// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/record_times.h"

#include <stddef.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

/* GPU times are converted, and may lie a little in the future. */
#define SLACK_NS	  3600000000000ull
#define LONGEST		  600000000000ull /* of one interval; more is nonsense */
#define STREAM_WAIT_EVENT 2		  /* CUPTI's type of a wait that holds up no thread */

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

bool record_times__span(const struct cuda_record *record, uint64_t *start, uint64_t *end)
{
	if (record->kind >= sizeof(places) / sizeof(places[0]) || !places[record->kind].start)
		return false;
	*start = at(record, places[record->kind].start);
	*end = at(record, places[record->kind].end);
	return true;
}

/* What a kind is the time of; `device`: where a GPU's has the ordinal. */
static const struct {
	enum record_work work;
	uint16_t device;
} works[] = {
	[CUDA_RECORD_LAUNCH] = {WORK_LAUNCH, 0},
	[CUDA_RECORD_GRAPH_LAUNCH] = {WORK_LAUNCH, 0},
	[CUDA_RECORD_SYNC] = {WORK_WAIT, 0},
	[CUDA_RECORD_KERNEL] = {WORK_KERNEL, offsetof(struct cuda_kernel, device)},
	[CUDA_RECORD_GRAPH] = {WORK_KERNEL, offsetof(struct cuda_graph, device)},
	[CUDA_RECORD_MEMCPY] = {WORK_COPY, offsetof(struct cuda_memcpy, device)},
	[CUDA_RECORD_MEMSET] = {WORK_COPY, offsetof(struct cuda_memset, device)},
};

bool record_times__interval(const struct cuda_record *record, struct record_interval *interval)
{
	if (record->kind >= sizeof(works) / sizeof(works[0]) || !works[record->kind].work)
		return false;
	if (record->kind == CUDA_RECORD_SYNC &&
	    ((const struct cuda_sync *)record)->type == STREAM_WAIT_EVENT)
		return false;
	interval->work = works[record->kind].work;
	interval->start = at(record, places[record->kind].start);
	interval->end = at(record, places[record->kind].end);
	memcpy(&interval->device, (const char *)record + works[record->kind].device,
	       sizeof(interval->device));
	return interval->start && interval->end >= interval->start &&
	       interval->end - interval->start <= LONGEST;
}
