// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who waited for whom, collective by collective. The sums by communicator, and the verdict, are
 * those of stat: they need durations alone. Arrivals need aligned clocks.
 */
#include "cuda-trace/merge/merge.h"

static void play(struct merge *merge, const struct merge_arrival *arrival)
{
	struct nccl_comm_work work = {
		.comm = arrival->comm,
		.rank = arrival->member,
		.numbered = arrival->number != UINT64_MAX,
		.number = arrival->number,
		.part_count = arrival->part_count,
	};

	if (!arrival->part_count)
		return;
	for (uint32_t i = 0; i < arrival->part_count; i++)
		work.parts[i] = merge->parts[arrival->part + i];
	nccl_comms__kernel(&merge->comms, &work, arrival->start > 0 ? arrival->start : 0,
			   arrival->end > 0 ? arrival->end : 0);
}

/* A rank has one kernel of a number, but for what a large group launches beyond its first. */
static bool is_complete(const struct merge *merge, uint32_t first, uint32_t end)
{
	const struct nccl_comm *comm = &merge->comms.list[merge->arrivals[first].comm];

	for (uint32_t i = first; i < end; i++) {
		const struct merge_arrival *arrival = &merge->arrivals[i];

		if ((i > first && arrival->member == arrival[-1].member) ||
		    !merge->clocks[merge->ranks[arrival->rank].clock].aligned)
			return false;
	}
	return comm->size >= 2 && end - first == comm->size;
}

/* A root of a broadcast may be gone before the last rank comes. */
static bool must_overlap(const struct merge *merge, const struct merge_arrival *arrival)
{
	for (uint32_t i = 0; i < arrival->part_count; i++)
		switch (merge->parts[arrival->part + i].function) {
		case NCCL_ALL_REDUCE:
		case NCCL_ALL_GATHER:
		case NCCL_REDUCE_SCATTER:
		case NCCL_ALL_TO_ALL:
			return true;
		}
	return false;
}

static void compare(struct merge *merge, uint32_t first, uint32_t end)
{
	struct merge_arrival *arrivals = merge->arrivals;
	uint32_t last = first, earliest = first;
	double sum = 0;
	int64_t done = INT64_MAX;

	for (uint32_t i = first; i < end; i++) {
		if (arrivals[i].start > arrivals[last].start)
			last = i;
		if (arrivals[i].start < arrivals[earliest].start)
			earliest = i;
		if (arrivals[i].end < done)
			done = arrivals[i].end;
	}
	if (done < arrivals[last].start && must_overlap(merge, &arrivals[first])) {
		merge->apart++;
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		struct merge_rank *rank = &merge->ranks[arrivals[i].rank];

		rank->met++;
		rank->after_ns += arrivals[i].start - arrivals[earliest].start;
		sum += arrivals[last].start - arrivals[i].start;
	}
	merge->met++;
	merge->skew_ns += arrivals[last].start - arrivals[earliest].start;
	merge->ranks[arrivals[last].rank].last++;
	merge->ranks[arrivals[last].rank].late_ns += sum / (end - first - 1);
	if (arrivals[last].step != MERGE_NO_STEP)
		merge->steps[arrivals[last].step].held_ns += sum / (end - first - 1);
}

void merge_skew__sum(struct merge *merge)
{
	for (uint32_t i = 0, end; i < merge->arrival_count; i = end) {
		end = merge_skew__group(merge, i);
		for (uint32_t k = i; k < end; k++)
			play(merge, &merge->arrivals[k]);
		if (is_complete(merge, i, end))
			compare(merge, i, end);
	}
}
