// SPDX-License-Identifier: BSD-2-Clause
/* One thread. What processes say is untrusted: it is bounded, and not trusted to be in order. */
#include "cuda-trace/collectives/comm_alignment.h"

#include <stdlib.h>

#define KEPT	  64	 /* collectives of a rank, the latest that come after a rest */
#define EVERY	  8	 /* ranks are compared after so many more */
#define MIN_PAIRS 8	 /* that agree */
#define MIN_GAP	  100000 /* ns, since the end before: a rest */
#define NEARER	  4	 /* times, than that one */

/* All ranks count as the first one does, from here on: what is before its first one has a number,
 * too. */
#define REFERENCE 0
#define BASE	  (1ull << 32)

/* The first one after a rest. */
struct head {
	struct ended_collective ended;
	uint64_t gap; /* ns, since the end before */
};

struct history {
	uint64_t count; /* so far */
	uint64_t last;	/* end of the latest collective; 0 = none */
	bool aligned;
	uint64_t shift; /* to be added to this rank's numbers; modulo 2^64 */
	struct head list[KEPT];
};

struct comm_alignment {
	uint32_t ranks;
	struct history histories[];
};

struct comm_alignment *comm_alignment__new(uint32_t ranks)
{
	struct comm_alignment *alignment =
		calloc(1, sizeof(*alignment) + ranks * sizeof(alignment->histories[0]));

	if (!alignment)
		return NULL;
	alignment->ranks = ranks;
	alignment->histories[REFERENCE].aligned = true;
	return alignment;
}

uint32_t comm_alignment__ranks(const struct comm_alignment *alignment)
{
	return alignment->ranks;
}

bool comm_alignment__is_complete(const struct comm_alignment *alignment)
{
	for (uint32_t i = 0; i < alignment->ranks; i++)
		if (!alignment->histories[i].aligned)
			return false;
	return true;
}

/* From the oldest one that is kept; NULL: there is none. */
static const struct head *head_at(const struct history *history, int64_t at)
{
	uint64_t kept = history->count < KEPT ? history->count : KEPT;

	if (at < 0 || (uint64_t)at >= kept)
		return NULL;
	return &history->list[(history->count - kept + at) % KEPT];
}

static bool is_pair(const struct head *a, const struct head *b)
{
	uint64_t gap = a->gap < b->gap ? a->gap : b->gap;
	uint64_t distance = a->ended.end > b->ended.end ? a->ended.end - b->ended.end
							: b->ended.end - a->ended.end;

	return distance < gap / NEARER;
}

/* The next one of `b` that does not end before `end`, from `to` on. */
static int64_t skip_to(const struct history *b, int64_t to, uint64_t end)
{
	while (head_at(b, to) && head_at(b, to)->ended.end < end)
		to++;
	return to;
}

/* What has to be added to the numbers of `b` to make them those of `a`. False: it is not clear. */
static bool find_shift(const struct history *a, const struct history *b, uint64_t *shift)
{
	const struct head *one, *other;
	int64_t next = 0;
	int pairs = 0;

	for (int64_t at = 0; (one = head_at(a, at)); at++) {
		next = skip_to(b, next, one->ended.end);
		for (int64_t to = next - 1; to <= next; to++) {
			other = head_at(b, to);
			if (!other || !is_pair(one, other))
				continue;
			if (one->ended.function != other->ended.function ||
			    one->ended.bytes != other->ended.bytes ||
			    (pairs && one->ended.number - other->ended.number != *shift))
				return false;
			*shift = one->ended.number - other->ended.number;
			pairs++;
		}
	}
	return pairs >= MIN_PAIRS;
}

static void align(struct comm_alignment *alignment, uint32_t rank)
{
	struct history *history = &alignment->histories[rank];

	if (!history->aligned)
		history->aligned =
			find_shift(&alignment->histories[REFERENCE], history, &history->shift);
}

void comm_alignment__note(struct comm_alignment *alignment, uint32_t rank,
			  const struct ended_collective *ended)
{
	struct history *history;
	uint64_t last, gap;

	if (rank >= alignment->ranks)
		return;
	history = &alignment->histories[rank];
	last = history->last;
	history->last = ended->end;
	gap = last && ended->end > last ? ended->end - last : 0;
	if (gap < MIN_GAP)
		return;
	history->list[history->count++ % KEPT] = (struct head){*ended, gap};
	if (history->count % EVERY)
		return;
	if (rank != REFERENCE)
		align(alignment, rank);
	else
		for (uint32_t i = 0; i < alignment->ranks; i++)
			align(alignment, i);
}

bool comm_alignment__number(const struct comm_alignment *alignment, uint32_t rank, uint64_t *number)
{
	if (rank >= alignment->ranks || !alignment->histories[rank].aligned)
		return false;
	*number += BASE + alignment->histories[rank].shift;
	return true;
}
