// SPDX-License-Identifier: BSD-2-Clause
/*
 * The steps of a file's processes, and which time on the GPUs is whose. Each file may have the same
 * number of steps, so that those that are left out are the same ones on all ranks.
 */
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/merge/merge_scan.h"

static int64_t end_of(const struct step_ranges *ranges, uint32_t index)
{
	return index + 1 < ranges->count ? ranges->list[index + 1].start : ranges->list[index].end;
}

/* Those that do not fit are left out. */
static void add_steps(struct merge *merge, struct step_ranges *ranges)
{
	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct step_range *range = &ranges->list[i];

		if (merge->step_count == MERGE_STEPS ||
		    !array_grow__for_one(merge->steps, merge->step_capacity, merge->step_count)) {
			merge->steps_left_out += ranges->count - i;
			ranges->count = i;
			return;
		}
		merge->steps[merge->step_count++] = (struct merge_step){
			.number = range->number,
			.length = range->end - range->start,
			.span = end_of(ranges, i) - range->start,
			.rank = MERGE_NO_RANK,
		};
	}
}

void merge_steps__read(struct merge_scan *scan)
{
	struct merge *merge = scan->merge;
	uint32_t most = MERGE_STEPS / (merge->file_count ? merge->file_count : 1);

	if (!merge->range)
		return;
	scan->err = step_ranges__read(&scan->file, merge->range,
				      most < STEP_RANGES_MAX ? most : STEP_RANGES_MAX, MERGE_RANKS,
				      &scan->steps);
	merge->steps_left_out += scan->steps.left_out;
	scan->first_step = merge->step_count;
	for (uint32_t i = 0; i < scan->steps.count && !scan->err; i++)
		add_steps(merge, &scan->steps.list[i]);
}

struct step_cursor merge_steps__cursor(const struct merge_scan *scan, uint32_t rank)
{
	struct step_cursor cursor = {.first = scan->first_step};

	for (uint32_t i = 0; i < scan->steps.count; i++) {
		const struct step_ranges *ranges = &scan->steps.list[i];

		if (ranges->global == scan->merge->ranks[rank].global) {
			cursor.ranges = ranges;
			return cursor;
		}
		cursor.first += ranges->count;
	}
	return cursor;
}

uint32_t merge_steps__at(const struct step_cursor *cursor, int64_t time)
{
	int64_t index = cursor->ranges ? step_ranges__at(cursor->ranges, time) : -1;

	return index < 0 ? MERGE_NO_STEP : cursor->first + (uint32_t)index;
}

void merge_steps__add(struct merge *merge, struct step_cursor *cursor, int64_t from, int64_t to,
		      bool exposed)
{
	const struct step_ranges *ranges = cursor->ranges;

	while (ranges && from < to && cursor->at < ranges->count) {
		struct merge_step *step = &merge->steps[cursor->first + cursor->at];
		int64_t start = ranges->list[cursor->at].start, end = end_of(ranges, cursor->at);

		if (end <= from || end == start) {
			cursor->at++;
			continue;
		}
		if (start >= to)
			return;
		from = from > start ? from : start;
		end = end < to ? end : to;
		*(exposed ? &step->exposed_ns : &step->compute_ns) += end - from;
		from = end;
	}
}

void merge_steps__finish(struct merge_scan *scan)
{
	struct merge *merge = scan->merge;

	for (uint32_t i = scan->first_rank; i < merge->rank_count; i++) {
		struct step_cursor cursor = merge_steps__cursor(scan, i);

		for (uint32_t k = 0; cursor.ranges && k < cursor.ranges->count; k++)
			merge->steps[cursor.first + k].rank = i;
	}
	step_ranges__free(&scan->steps);
}
