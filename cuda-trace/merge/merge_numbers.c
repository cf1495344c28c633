// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranks of a communicator that was made before it was recorded number its collectives each from the
 * first one that was recorded of it. This finds what has to be added to the numbers of each, from
 * the pattern of ends: those of the same collectives are the same time apart on all ranks, whatever
 * their clocks say. docs/internals/merge.md says how that can go wrong.
 */
#include <errno.h>
#include <stdlib.h>
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/merge/merge.h"

#define WALL_NS	   1000000000 /* by which wall clocks may differ */
#define SAME_NS	   1000000    /* the same of ends of one collective on one clock */
#define SAMPLES	   200	      /* distances that are compared */
#define MIN_SHARED 32	      /* of these */
#define CLEARLY	   3	      /* times better than any other shift */
#define CANDIDATES 20000

/* The arrivals of one rank on one communicator, by their number. */
struct series {
	struct merge_member *member;
	const struct merge_arrival *list;
	uint32_t count;
	int64_t wall; /* what has to be added to its times for wall clock time */
	uint32_t clock;
};

static int by_member(const void *a, const void *b)
{
	const struct merge_arrival *left = a, *right = b;

	if (left->comm != right->comm)
		return left->comm < right->comm ? -1 : 1;
	if (left->member != right->member)
		return left->member < right->member ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static struct merge_member *member_of(const struct merge *merge,
				      const struct merge_arrival *arrival)
{
	for (uint32_t i = 0; i < merge->member_count; i++)
		if (merge->members[i].comm == arrival->comm &&
		    merge->members[i].member == arrival->member)
			return &merge->members[i];
	return NULL;
}

/* Those without a number, which come last, are left out. */
static struct series series_at(const struct merge *merge, uint32_t first, uint32_t *end)
{
	const struct merge_arrival *of = &merge->arrivals[first];
	uint32_t clock = merge->ranks[of->rank].clock, count = 0;

	*end = first;
	while (*end < merge->arrival_count && merge->arrivals[*end].comm == of->comm &&
	       merge->arrivals[*end].member == of->member)
		count += merge->arrivals[(*end)++].number != UINT64_MAX;
	return (struct series){
		.member = member_of(merge, of),
		.list = of,
		.count = count,
		.wall = merge->clocks[clock].boot,
		.clock = clock,
	};
}

static const struct merge_arrival *numbered(const struct series *series, uint64_t number)
{
	uint32_t at = sorted__count_before(series->count, i, series->list[i].number < number);

	return at < series->count && series->list[at].number == number ? &series->list[at] : NULL;
}

static bool does_the_same(const struct merge *merge, const struct merge_arrival *a,
			  const struct merge_arrival *b)
{
	const struct nccl_comm_part *left = &merge->parts[a->part], *right = &merge->parts[b->part];

	return a->part_count == b->part_count &&
	       (!a->part_count ||
		(left->function == right->function && left->bytes == right->bytes));
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* By how much the distances between ends differ, if b's numbers are increased by that: the median.
 * Below 0: these are no pairs, or too few. */
static int64_t misfit(const struct merge *merge, const struct series *a, const struct series *b,
		      int64_t shift)
{
	uint32_t stride = a->count / SAMPLES + 1, count = 0;
	int64_t differences[SAMPLES + 1];

	for (uint32_t i = 0; i + 1 < a->count && count <= SAMPLES; i += stride) {
		const struct merge_arrival *here = &a->list[i], *next = here + 1;
		const struct merge_arrival *its = numbered(b, here->number - shift);
		const struct merge_arrival *its_next = its ? its + 1 : NULL;

		if (!its || its_next == b->list + b->count || next->number != here->number + 1 ||
		    its_next->number != its->number + 1)
			continue;
		if (!does_the_same(merge, here, its) || !does_the_same(merge, next, its_next))
			return -1;
		differences[count++] = llabs((next->end - here->end) - (its_next->end - its->end));
	}
	if (count < MIN_SHARED)
		return -1;
	qsort(differences, count, sizeof(*differences), by_value);
	return differences[count / 2];
}

/* False: no shift is clearly the best one. */
static bool find_shift(const struct merge *merge, const struct series *a, const struct series *b,
		       int64_t *shift)
{
	const struct merge_arrival *middle = &a->list[a->count / 2];
	int64_t wall = middle->end + a->wall, best = INT64_MAX, second = INT64_MAX;
	int64_t apart = a->clock == b->clock ? SAME_NS : WALL_NS;
	uint32_t first = sorted__count_before(b->count, i, b->list[i].end + b->wall < wall - apart);

	for (uint32_t i = first; i < b->count && i - first < CANDIDATES; i++) {
		int64_t tried = (int64_t)(middle->number - b->list[i].number), fit;

		if (b->list[i].end + b->wall > wall + apart)
			break;
		fit = misfit(merge, a, b, tried);
		if (fit < 0)
			continue;
		if (fit < best) {
			second = best;
			best = fit;
			*shift = tried;
		} else if (fit < second) {
			second = fit;
		}
	}
	return best < INT64_MAX && best <= second / CLEARLY;
}

/* The one with the most collectives is what the others are compared with. */
static void match(struct merge *merge, struct series *series, uint32_t count)
{
	const struct series *reference = &series[0];
	int64_t shift = 0, lowest = 0;

	for (uint32_t i = 1; i < count; i++)
		if (series[i].count > reference->count)
			reference = &series[i];
	for (uint32_t i = 0; i < count; i++) {
		struct merge_member *member = series[i].member;

		member->matched =
			&series[i] == reference || find_shift(merge, reference, &series[i], &shift);
		member->shift = &series[i] == reference ? 0 : shift;
		if (member->matched && series[i].count &&
		    (int64_t)series[i].list[0].number + member->shift < lowest)
			lowest = (int64_t)series[i].list[0].number + member->shift;
	}
	for (uint32_t i = 0; i < count; i++)
		series[i].member->shift -= lowest;
}

static bool was_found(const struct series *series, uint32_t count)
{
	bool found = false;

	for (uint32_t i = 0; i < count; i++) {
		if (!series[i].member)
			return false;
		found |= series[i].member->found;
	}
	return found;
}

/* In the order of by_member(). */
static void renumber(struct merge *merge)
{
	const struct merge_member *member = NULL;
	bool own = false;

	for (uint32_t i = 0; i < merge->arrival_count; i++) {
		struct merge_arrival *arrival = &merge->arrivals[i];

		if (!i || arrival->comm != arrival[-1].comm ||
		    arrival->member != arrival[-1].member) {
			member = member_of(merge, arrival);
			own = merge_numbers__are_own(merge, arrival->comm);
		}
		if (!own || arrival->number == UINT64_MAX)
			continue;
		if (member && member->matched) {
			arrival->number += member->shift;
		} else {
			arrival->number = UINT64_MAX;
			merge->unmatched++;
		}
	}
}

bool merge_numbers__are_own(const struct merge *merge, uint32_t comm)
{
	for (uint32_t i = 0; i < merge->member_count; i++)
		if (merge->members[i].comm == comm && merge->members[i].found)
			return true;
	return false;
}

int merge_numbers__match(struct merge *merge)
{
	struct series *series;
	bool any = false;

	for (uint32_t i = 0; i < merge->member_count; i++)
		any |= merge->members[i].found;
	if (!any || !merge->arrival_count)
		return 0;
	series = calloc(merge->member_count, sizeof(*series));
	if (!series)
		return -ENOMEM;
	qsort(merge->arrivals, merge->arrival_count, sizeof(*merge->arrivals), by_member);
	for (uint32_t i = 0; i < merge->arrival_count;) {
		uint32_t comm = merge->arrivals[i].comm, count = 0;

		while (i < merge->arrival_count && merge->arrivals[i].comm == comm) {
			struct series next = series_at(merge, i, &i);

			if (count < merge->member_count)
				series[count++] = next;
		}
		if (was_found(series, count))
			match(merge, series, count);
	}
	free(series);
	renumber(merge);
	return 0;
}
