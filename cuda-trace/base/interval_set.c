// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/interval_set.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"

#define MAX_INTERVALS 65536 /* power of 2 */

void interval_set__free(struct interval_set *set)
{
	free(set->list);
	*set = (struct interval_set){};
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Half of them at a time, as the others move. */
static void sum_up_oldest(struct interval_set *set)
{
	uint32_t half = set->count / 2;

	for (uint32_t i = 0; i < half; i++)
		set->summed_ns += set->list[i].end - set->list[i].start;
	set->summed_count += half;
	set->summed_until = set->list[half - 1].end;
	set->count -= half;
	memmove(set->list, set->list + half, set->count * sizeof(*set->list));
}

static bool has_space(struct interval_set *set)
{
	if (set->count == MAX_INTERVALS)
		sum_up_oldest(set);
	return array_grow__for_one(set->list, set->capacity, set->count);
}

/* How many begin at this time or before. */
static uint32_t begun(const struct interval_set *set, uint64_t time)
{
	return sorted__count_before(set->count, i, set->list[i].start <= time);
}

void interval_set__add(struct interval_set *set, uint64_t start, uint64_t end)
{
	struct interval *one;
	uint32_t at;

	if (!has_space(set))
		return;
	start = later(start, set->summed_until);
	if (end <= start)
		return;
	at = begun(set, start);
	if (at && set->list[at - 1].end >= start) {
		at--;
	} else {
		memmove(set->list + at + 1, set->list + at,
			(set->count++ - at) * sizeof(*set->list));
		set->list[at] = (struct interval){start, end};
	}
	one = &set->list[at];
	one->end = later(one->end, end);
	while (at + 1 < set->count && set->list[at + 1].start <= one->end) {
		one->end = later(one->end, set->list[at + 1].end);
		memmove(one + 1, one + 2, (set->count-- - at - 2) * sizeof(*one));
	}
}

void interval_set__open(struct interval_set *set, uint64_t start)
{
	interval_set__add(set, start, INTERVAL_OPEN);
}

bool interval_set__is_open(const struct interval_set *set)
{
	return set->count && set->list[set->count - 1].end == INTERVAL_OPEN;
}

void interval_set__close(struct interval_set *set, uint64_t end)
{
	if (interval_set__is_open(set))
		set->list[set->count - 1].end = later(end, set->list[set->count - 1].start);
}

bool interval_set__overlaps(const struct interval_set *set, uint64_t start, uint64_t end)
{
	uint32_t count = begun(set, end > start ? end - 1 : start);

	return count && set->list[count - 1].end > start;
}

bool interval_set__covers(const struct interval_set *set, uint64_t time)
{
	return interval_set__overlaps(set, time, time);
}

bool interval_set__contains(const struct interval_set *set, uint64_t start, uint64_t end)
{
	uint32_t count = begun(set, start);

	return count && set->list[count - 1].end >= end;
}

bool interval_set__next_part(const struct interval_set *set, struct interval *rest,
			     struct interval *part)
{
	uint32_t at = begun(set, rest->start);

	if (at && set->list[at - 1].end > rest->start)
		at--;
	if (at == set->count || set->list[at].start >= rest->end)
		return false;
	part->start = later(rest->start, set->list[at].start);
	part->end = rest->end < set->list[at].end ? rest->end : set->list[at].end;
	rest->start = part->end;
	return part->end > part->start;
}

uint64_t interval_set__count(const struct interval_set *set)
{
	return set->summed_count + set->count;
}

uint64_t interval_set__length(const struct interval_set *set)
{
	uint64_t sum = set->summed_ns;

	for (uint32_t i = 0; i < set->count; i++)
		if (set->list[i].end != INTERVAL_OPEN)
			sum += set->list[i].end - set->list[i].start;
	return sum;
}
