// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/record_times.h"

#include <stddef.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

/* GPU times are converted, and may lie a little in the future. */
#define SLACK_NS	  3600000000000ull
#define LONGEST		  600000000000ull /* of one interval; more is nonsense */
#define STREAM_WAIT_EVENT 2		  /* CUPTI's type of a wait that holds up no thread */

#define SPAN(kind, type) \
	[CUDA_RECORD_##kind] = {offsetof(struct type, start), offsetof(struct type, end)}
#define MOMENT(kind, type) \
	[CUDA_RECORD_##kind] = {offsetof(struct type, time), offsetof(struct type, time)}

#define HOST(kind, type, work) \
	[CUDA_RECORD_##kind] = {offsetof(struct type, start), offsetof(struct type, end), 0, work}
#define GPU(kind, type, work)                                                             \
	[CUDA_RECORD_##kind] = {offsetof(struct type, start), offsetof(struct type, end), \
				offsetof(struct type, device), work}

/* Where a kind has its times; {0, 0}: it has none. */
static const struct {
	uint16_t start, end, device;
	enum record_work work;
} places[] = {
	HOST(LAUNCH, cuda_launch, WORK_LAUNCH),
	HOST(GRAPH_LAUNCH, cuda_launch, WORK_LAUNCH),
	GPU(KERNEL, cuda_kernel, WORK_KERNEL),
	GPU(MEMCPY, cuda_memcpy, WORK_COPY),
	GPU(MEMSET, cuda_memset, WORK_COPY),
	MOMENT(MEMORY, cuda_memory),
	MOMENT(MEMORY_POOL, cuda_memory_pool),
	HOST(SYNC, cuda_sync, WORK_WAIT),
	GPU(GRAPH, cuda_graph, WORK_KERNEL),
	SPAN(API, cuda_api),
	SPAN(GRAPH_INSTANTIATE, cuda_api),
	SPAN(OVERHEAD, cuda_overhead),
	SPAN(JIT, cuda_jit),
	SPAN(UVM, cuda_uvm),
	SPAN(NVTX, cuda_nvtx),
	SPAN(COUNTERS, cuda_counters),
	MOMENT(COUNTERS_STATE, cuda_counters_state),
	MOMENT(PC_SAMPLE, cuda_pc_sample),
	SPAN(PC_WINDOW, cuda_pc_window),
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

bool record_times__interval(const struct cuda_record *record, struct record_interval *interval)
{
	if (record->kind >= sizeof(places) / sizeof(places[0]) || !places[record->kind].work)
		return false;
	if (record->kind == CUDA_RECORD_SYNC &&
	    ((const struct cuda_sync *)record)->type == STREAM_WAIT_EVENT)
		return false;
	interval->work = places[record->kind].work;
	interval->start = at(record, places[record->kind].start);
	interval->end = at(record, places[record->kind].end);
	memcpy(&interval->device, (const char *)record + places[record->kind].device,
	       sizeof(interval->device));
	return interval->start && interval->end >= interval->start &&
	       interval->end - interval->start <= LONGEST;
}
