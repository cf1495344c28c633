// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which collectives give readings of clocks, and in which order clocks are aligned. In each round
 * those that share collectives with aligned ones are aligned with what these show.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "cuda-trace/merge/merge.h"

#define MAX_READINGS (1u << 20) /* of evenly spread collectives */
#define LEAST_PAIRS  1

/* The end of a collective on a clock. */
struct reading {
	uint32_t group;
	uint32_t clock;
	int64_t end;
};

struct readings {
	struct reading *list; /* by group */
	size_t count;
	struct clock_pair *pairs;
	int64_t *shown; /* scratch: what aligned clocks of a group show */
};

static int by_key(const void *a, const void *b)
{
	const struct merge_arrival *left = a, *right = b;

	if (left->comm != right->comm)
		return left->comm < right->comm ? -1 : 1;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return (left->member > right->member) - (left->member < right->member);
}

uint32_t merge_skew__group(const struct merge *merge, uint32_t first)
{
	const struct merge_arrival *of = &merge->arrivals[first];
	uint32_t end = first + 1;

	while (end < merge->arrival_count && of->number != UINT64_MAX &&
	       merge->arrivals[end].comm == of->comm && merge->arrivals[end].number == of->number)
		end++;
	return end;
}

/* Each rank needs data of each other one. */
static bool is_symmetric(uint32_t function)
{
	return function == NCCL_ALL_REDUCE || function == NCCL_ALL_GATHER ||
	       function == NCCL_REDUCE_SCATTER || function == NCCL_ALL_TO_ALL;
}

static bool may_align(const struct merge *merge, uint32_t first, uint32_t end)
{
	const struct merge_arrival *of = &merge->arrivals[first];
	const struct nccl_comm_part *part = &merge->parts[of->part];

	if (end - first < 2 || !of->part_count)
		return false;
	for (uint32_t i = 0; i < of->part_count; i++)
		if (!is_symmetric(part[i].function))
			return false;
	for (uint32_t i = first + 1; i < end; i++) {
		const struct merge_arrival *other = &merge->arrivals[i];
		const struct nccl_comm_part *its = &merge->parts[other->part];

		if (other->part_count != of->part_count || its->function != part->function ||
		    its->bytes != part->bytes)
			return false;
	}
	return true;
}

static int by_time(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

int64_t merge_clocks__median(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_time);
	return count % 2 ? values[count / 2]
			 : values[count / 2 - 1] + (values[count / 2] - values[count / 2 - 1]) / 2;
}

/* One of each clock of the group: the median of its ranks. */
static void add_readings(struct merge *merge, struct readings *readings, uint32_t first,
			 uint32_t end, uint32_t group)
{
	for (uint32_t i = first; i < end; i++) {
		uint32_t clock = merge->ranks[merge->arrivals[i].rank].clock;
		size_t same = 0;
		bool seen = false;

		for (uint32_t k = first; k < i && !seen; k++)
			seen = merge->ranks[merge->arrivals[k].rank].clock == clock;
		if (seen)
			continue;
		for (uint32_t k = i; k < end; k++)
			if (merge->ranks[merge->arrivals[k].rank].clock == clock)
				readings->shown[same++] = merge->arrivals[k].end;
		readings->list[readings->count++] =
			(struct reading){group, clock, merge_clocks__median(readings->shown, same)};
	}
}

static bool has_two_clocks(const struct merge *merge, uint32_t first, uint32_t end)
{
	for (uint32_t i = first + 1; i < end; i++)
		if (merge->ranks[merge->arrivals[i].rank].clock !=
		    merge->ranks[merge->arrivals[first].rank].clock)
			return true;
	return false;
}

static void collect(struct merge *merge, struct readings *readings)
{
	uint32_t usable = 0, stride, group = 0;

	for (uint32_t i = 0, end; i < merge->arrival_count; i = end) {
		end = merge_skew__group(merge, i);
		if (has_two_clocks(merge, i, end) && may_align(merge, i, end))
			usable += end - i;
	}
	stride = usable / MAX_READINGS + 1;
	for (uint32_t i = 0, end; i < merge->arrival_count; i = end) {
		end = merge_skew__group(merge, i);
		if (!has_two_clocks(merge, i, end) || !may_align(merge, i, end))
			continue;
		if (group % stride == 0)
			add_readings(merge, readings, i, end, group);
		group++;
	}
	for (size_t i = 0; i < readings->count; i++)
		merge->clocks[readings->list[i].clock].readings++;
}

/* The pairs of a clock: its readings with what the aligned clocks of the groups show. */
static size_t pair(const struct merge *merge, struct readings *readings, uint32_t clock)
{
	size_t pairs = 0;

	for (size_t i = 0, end; i < readings->count; i = end) {
		const struct reading *own = NULL;
		size_t shown = 0;

		for (end = i;
		     end < readings->count && readings->list[end].group == readings->list[i].group;
		     end++) {
			const struct reading *reading = &readings->list[end];

			if (reading->clock == clock)
				own = reading;
			else if (merge->clocks[reading->clock].aligned)
				readings->shown[shown++] =
					merge_clocks__convert(merge, reading->clock, reading->end);
		}
		if (own && shown)
			readings->pairs[pairs++] = (struct clock_pair){
				own->end, merge_clocks__median(readings->shown, shown) - own->end};
	}
	return pairs;
}

/* Fits a clock, which counts as aligned from the next round on. */
static int align(struct merge *merge, struct readings *readings, uint32_t index, double error)
{
	struct merge_clock *clock = &merge->clocks[index];
	size_t pairs = pair(merge, readings, index);
	double own;
	int err;

	if (pairs < LEAST_PAIRS)
		return 0;
	err = clock_fit__make(&clock->fit, readings->pairs, pairs);
	own = clock_fit__error(&clock->fit);
	clock->error = own < 0 || error < 0 ? -1 : own + error;
	return err ? err : 1;
}

/* In the first round each clock is compared with the reference alone. */
static int align_all(struct merge *merge, struct readings *readings)
{
	bool *reached = calloc(merge->clock_count, sizeof(*reached));
	double error = 0;
	bool any = reached != NULL;
	int err = reached ? 0 : -ENOMEM;

	for (int round = 1; any && !err; round++) {
		double most = 0;

		any = false;
		for (uint32_t i = 0; i < merge->clock_count && !err; i++) {
			reached[i] = false;
			if (merge->clocks[i].aligned || !merge->clocks[i].readings)
				continue;
			err = align(merge, readings, i, error);
			reached[i] = err > 0;
			err = err < 0 ? err : 0;
		}
		for (uint32_t i = 0; i < merge->clock_count; i++) {
			if (!reached[i])
				continue;
			any = merge->clocks[i].aligned = true;
			merge->clocks[i].round = round;
			most = merge->clocks[i].error < 0 || most < 0
				       ? -1
				       : fmax(most, merge->clocks[i].error);
		}
		error = most;
	}
	free(reached);
	return err;
}

static void choose_reference(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->clock_count; i++)
		if (merge->clocks[i].readings > merge->clocks[merge->reference].readings)
			merge->reference = i;
	merge->clocks[merge->reference].aligned = true;
	merge->clocks[merge->reference].error = 0;
	for (uint32_t i = 0; i < merge->clock_count; i++)
		merge->clocks[i].shift =
			merge->clocks[i].boot - merge->clocks[merge->reference].boot;
}

int64_t merge_clocks__convert(const struct merge *merge, uint32_t index, int64_t time)
{
	const struct merge_clock *clock = &merge->clocks[index];

	return clock->aligned ? clock_fit__convert(&clock->fit, time) : time + clock->shift;
}

int merge_clocks__align(struct merge *merge)
{
	struct readings readings = {
		.list = calloc(merge->arrival_count + 1, sizeof(*readings.list)),
		.pairs = calloc(merge->arrival_count + 1, sizeof(*readings.pairs)),
		.shown = calloc(MERGE_RANKS, sizeof(*readings.shown)),
	};
	int err = readings.list && readings.pairs && readings.shown ? 0 : -ENOMEM;

	if (!err)
		err = merge_numbers__match(merge);
	if (merge->arrival_count)
		qsort(merge->arrivals, merge->arrival_count, sizeof(*merge->arrivals), by_key);
	if (!err)
		collect(merge, &readings);
	if (!err && merge->clock_count)
		choose_reference(merge);
	if (!err)
		err = align_all(merge, &readings);
	for (uint32_t i = 0; i < merge->arrival_count && !err; i++) {
		struct merge_arrival *arrival = &merge->arrivals[i];
		uint32_t clock = merge->ranks[arrival->rank].clock;

		arrival->start = merge_clocks__convert(merge, clock, arrival->start);
		arrival->end = merge_clocks__convert(merge, clock, arrival->end);
	}
	free(readings.list);
	free(readings.pairs);
	free(readings.shown);
	if (err == -ENOMEM)
		fprintf(stderr, "cuda-trace: no memory to align clocks\n");
	return err;
}
