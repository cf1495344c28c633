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
#define SAMPLES	   200	      /* distances that are compared, the longest */
#define MIN_SHARED 32	      /* of these */
#define FEW	   24	      /* distances that show that a shift is a bad one */
#define MIN_FEW	   8
#define DRIFTS	   1000	  /* a clock drifts by less than a part in so many */
#define FITS_NS	   100000 /* by which distances differ at most */
#define CLEARLY	   3	  /* times better than any other shift, and by */
#define CLEARLY_NS 10000  /* this at least */
#define CANDIDATES 4000	  /* shifts, the nearest by the wall clocks */

/* The arrivals of one rank on one communicator, by their number. */
struct series {
	struct merge_member *member;
	const struct merge_arrival *list;
	uint32_t count;
	int64_t boot; /* of its host, by the wall clock */
	uint32_t clock;
	uint32_t *chosen; /* indices, of the reference */
	uint32_t chosen_count;
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

/* Those without a number, and replays, come last, and are left out. */
static struct series series_at(const struct merge *merge, uint32_t first, uint32_t *end)
{
	const struct merge_arrival *of = &merge->arrivals[first];
	uint32_t clock = merge->ranks[of->rank].clock, count = 0;

	*end = first;
	while (*end < merge->arrival_count && merge->arrivals[*end].comm == of->comm &&
	       merge->arrivals[*end].member == of->member)
		count += !(merge->arrivals[(*end)++].number & NCCL_COMM_REPLAYED);
	return (struct series){
		.member = member_of(merge, of),
		.list = of,
		.count = count,
		.boot = merge->clocks[clock].boot,
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

/* Of what files say: no sum or difference of two of these overflows. */
static int64_t bounded(int64_t ns)
{
	return ns < -MERGE_FAR ? -MERGE_FAR : ns > MERGE_FAR ? MERGE_FAR : ns;
}

static int64_t wall_end(const struct series *series, const struct merge_arrival *arrival)
{
	return bounded(bounded(arrival->end) + series->boot);
}

static int64_t distance_behind(const struct merge_arrival *arrival)
{
	return bounded(bounded(arrival[1].end) - bounded(arrival->end));
}

static int by_distance(const void *a, const void *b, void *context)
{
	const struct merge_arrival *list = context;
	int64_t left = distance_behind(&list[*(const uint32_t *)a]);
	int64_t right = distance_behind(&list[*(const uint32_t *)b]);

	return (left < right) - (left > right);
}

/* Those before the longest distances: short ones, within a step, are everywhere the same. */
static int choose(struct series *series)
{
	uint32_t count = series->count ? series->count - 1 : 0;

	series->chosen = calloc(count + 1, sizeof(*series->chosen));
	if (!series->chosen)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		series->chosen[i] = i;
	qsort_r(series->chosen, count, sizeof(*series->chosen), by_distance, (void *)series->list);
	series->chosen_count = count < SAMPLES ? count : SAMPLES;
	return 0;
}

/* By how much the distances between ends differ, if b's numbers are increased by that: the median
 * of the first so many chosen ones, without the drift of the clocks. Below 0: these are no pairs,
 * or too few. */
static int64_t misfit(const struct merge *merge, const struct series *a, const struct series *b,
		      uint64_t shift, uint32_t samples, uint32_t least)
{
	int64_t differences[SAMPLES], drift;
	uint32_t count = 0;

	for (uint32_t i = 0; i < samples && i < a->chosen_count; i++) {
		const struct merge_arrival *here = &a->list[a->chosen[i]], *next = here + 1;
		const struct merge_arrival *its = numbered(b, here->number - shift);
		const struct merge_arrival *its_next = its ? its + 1 : NULL;

		if (!its || its_next == b->list + b->count ||
		    its_next->number - its->number != next->number - here->number)
			continue;
		if (!does_the_same(merge, here, its) || !does_the_same(merge, next, its_next))
			return -1;
		differences[count++] = distance_behind(here) - distance_behind(its);
	}
	if (count < least)
		return -1;
	drift = merge_clocks__median(differences, count);
	if (llabs(drift) > distance_behind(&a->list[a->chosen[0]]) / DRIFTS + CLEARLY_NS)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		differences[i] = llabs(differences[i] - drift);
	return merge_clocks__median(differences, count);
}

struct fits {
	int64_t best, second;
	uint64_t shift; /* of the best one; modulo 2^64 */
	int64_t apart;	/* by the wall clocks */
};

static void try_shift(const struct merge *merge, const struct series *a, const struct series *b,
		      const struct fits *tried, struct fits *fits)
{
	int64_t fit = misfit(merge, a, b, tried->shift, FEW, MIN_FEW);

	if (fit < 0 || fit / CLEARLY > fits->second)
		return;
	fit = misfit(merge, a, b, tried->shift, SAMPLES, MIN_SHARED);
	if (fit < 0)
		return;
	if (fit < fits->best) {
		fits->second = fits->best;
		fits->best = fit;
		fits->shift = tried->shift;
		fits->apart = tried->apart;
	} else if (fit < fits->second) {
		fits->second = fit;
	}
}

/* On one clock, only ends at the same time can belong together. On two, any other shift that fits
 * as well makes it unclear, even one that the wall clocks contradict. False: no shift is clearly
 * the best one. */
static bool find_shift(const struct merge *merge, const struct series *a, const struct series *b,
		       uint64_t *shift)
{
	const struct merge_arrival *middle = &a->list[a->count / 2];
	bool one_clock = a->clock == b->clock;
	int64_t wall = wall_end(a, middle), apart = one_clock ? SAME_NS : WALL_NS;
	uint32_t nearest = sorted__count_before(b->count, i, wall_end(b, &b->list[i]) < wall);
	uint32_t first = nearest > CANDIDATES / 2 ? nearest - CANDIDATES / 2 : 0;
	struct fits fits = {INT64_MAX, INT64_MAX, 0, 0};

	for (uint32_t i = first; i < b->count && i - first < CANDIDATES; i++) {
		const struct fits tried = {
			.shift = middle->number - b->list[i].number,
			.apart = llabs(wall_end(b, &b->list[i]) - wall),
		};

		if (!one_clock || tried.apart <= apart)
			try_shift(merge, a, b, &tried, &fits);
	}
	*shift = fits.shift;
	return fits.best <= FITS_NS && fits.apart <= apart && fits.second / CLEARLY > fits.best &&
	       fits.second - fits.best >= CLEARLY_NS;
}

/* Of those whose numbers count from the creation, if there are any: these are right as they are. */
static const struct series *reference_of(const struct series *series, uint32_t count)
{
	const struct series *reference = &series[0];

	for (uint32_t i = 1; i < count; i++) {
		bool found = series[i].member->found, other = reference->member->found;

		if (found == other ? series[i].count > reference->count : !found)
			reference = &series[i];
	}
	return reference;
}

static int match(struct merge *merge, struct series *series, uint32_t count)
{
	struct series reference = *reference_of(series, count);
	uint64_t shift;
	int64_t lowest = 0;

	if (choose(&reference))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct merge_member *member = series[i].member;

		shift = 0;
		member->matched = !member->found || member == reference.member ||
				  find_shift(merge, &reference, &series[i], &shift);
		member->shift = member->matched && member->found ? shift : 0;
		if (series[i].count && member->matched &&
		    (int64_t)(series[i].list[0].number + member->shift) < lowest)
			lowest = series[i].list[0].number + member->shift;
	}
	for (uint32_t i = 0; i < count; i++)
		series[i].member->shift -= (uint64_t)lowest;
	free(reference.chosen);
	return 0;
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
		if (!own || arrival->number & NCCL_COMM_REPLAYED)
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
	int err = 0;

	for (uint32_t i = 0; i < merge->member_count; i++)
		any |= merge->members[i].found;
	if (!any || !merge->arrival_count)
		return 0;
	series = calloc(merge->member_count, sizeof(*series));
	if (!series)
		return -ENOMEM;
	qsort(merge->arrivals, merge->arrival_count, sizeof(*merge->arrivals), by_member);
	for (uint32_t i = 0; i < merge->arrival_count && !err;) {
		uint32_t comm = merge->arrivals[i].comm, count = 0;

		while (i < merge->arrival_count && merge->arrivals[i].comm == comm) {
			struct series next = series_at(merge, i, &i);

			if (count < merge->member_count)
				series[count++] = next;
		}
		if (was_found(series, count))
			err = match(merge, series, count);
	}
	free(series);
	renumber(merge);
	return err;
}
