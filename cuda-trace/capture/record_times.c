// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/record_times.h"

#include <stddef.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

/* GPU times are converted, and may lie a little in the future. */
#define SLACK_NS 3600000000000ull

#define SPAN(kind, type) \
	[CUDA_RECORD_##kind] = {offsetof(struct type, start), offsetof(struct type, end)}
#define MOMENT(kind, type) \
	[CUDA_RECORD_##kind] = {offsetof(struct type, time), offsetof(struct type, time)}

/* Where a kind has its times; {0, 0}: it has none. */
static const struct {
	uint16_t start, end;
} places[] = {
	SPAN(LAUNCH, cuda_launch),
	SPAN(GRAPH_LAUNCH, cuda_launch),
	SPAN(KERNEL, cuda_kernel),
	SPAN(MEMCPY, cuda_memcpy),
	SPAN(MEMSET, cuda_memset),
	MOMENT(MEMORY, cuda_memory),
	MOMENT(MEMORY_POOL, cuda_memory_pool),
	SPAN(SYNC, cuda_sync),
	SPAN(GRAPH, cuda_graph),
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
