// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways to go wrong:
 * 1. The end of a range arrives before its beginning, which another batch carries: it counts, and
 *    the beginning is ignored, since it is not after the end.
 * 2. Ranges of the name are open within each other, or in several threads: the first one counts
 *    until it ends, as in `report --steps`.
 * 3. The end of a range is lost: the loss is counted, and the caller calls
 * step_times__forget_open(). Later ends count without a beginning.
 * 4. Some steps are much longer (evaluation, checkpoints): the median does not follow them.
 */
#include "cuda-trace/trigger/step_times.h"
#include "cuda-trace/base/sorted.h"

#include <string.h>

void step_times__begin(struct step_times *times, const struct cuda_nvtx *range)
{
	if (times->is_open || range->start < times->last_end ||
	    (times->steps && range->start == times->last_start))
		return;
	times->open = *range;
	times->is_open = true;
}

static bool is_open_one(const struct step_times *times, const struct cuda_nvtx *range)
{
	const struct cuda_nvtx *open = &times->open;

	return open->start == range->start && open->range == range->range &&
	       (range->range || open->tid == range->tid);
}

bool step_times__end(struct step_times *times, const struct cuda_nvtx *range)
{
	if (range->end < range->start ||
	    (times->is_open ? !is_open_one(times, range) : range->start < times->last_end))
		return false;
	times->is_open = false;
	times->last_start = range->start;
	times->last_end = range->end;
	times->steps++;
	return true;
}

/* Where a value is, or belongs. */
static uint32_t place_of(const struct step_times *times, uint64_t ns)
{
	return sorted__count_before(times->count, i, times->sorted[i] < ns);
}

static void remove_oldest(struct step_times *times)
{
	uint32_t at = place_of(times, times->recent[times->next]);

	times->count--;
	memmove(times->sorted + at, times->sorted + at + 1,
		(times->count - at) * sizeof(*times->sorted));
}

void step_times__add(struct step_times *times, uint64_t ns)
{
	uint32_t at;

	if (times->steps <= STEP_TIMES_SKIPPED)
		return;
	if (times->count == STEP_TIMES_KEPT)
		remove_oldest(times);
	at = place_of(times, ns);
	memmove(times->sorted + at + 1, times->sorted + at,
		(times->count - at) * sizeof(*times->sorted));
	times->sorted[at] = ns;
	times->count++;
	times->recent[times->next] = ns;
	times->next = (times->next + 1) % STEP_TIMES_KEPT;
}

void step_times__forget_open(struct step_times *times)
{
	times->is_open = false;
}

uint64_t step_times__usual(const struct step_times *times)
{
	return times->count < STEP_TIMES_LEAST ? 0 : times->sorted[(times->count - 1) / 2];
}
