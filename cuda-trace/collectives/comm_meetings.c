// SPDX-License-Identifier: BSD-2-Clause
/* One thread. What processes say is untrusted: everything is bounded. */
#include "cuda-trace/collectives/comm_meetings.h"

#include <stdlib.h>
#include "cuda-trace/collectives/comm_alignment.h"

/* Collectives that wait for the kernels of some ranks: records of two processes come up to a second
 * apart. */
#define MEETINGS 4096
#define MAX_MET	 1024 /* ranks of a communicator that are compared */
/* Ranks of all these communicators: 128 MiB, twice that with waited(). */
#define MAX_COMPARED 4096
#define MISSING	     UINT64_MAX /* duration of a rank that has not come */

struct meeting {
	uint64_t number; /* + 1; 0 = free */
	uint32_t came;
	uint64_t shortest, sum;
	uint32_t last; /* the rank with the shortest kernel */
};

struct nccl_comm_meetings {
	uint32_t size;
	struct meeting list[MEETINGS];
	uint64_t *starts;     /* the same of when they began; NULL = nobody asks */
	uint64_t durations[]; /* of each rank in each */
};

/* A split is made by all ranks before any of its kernels can end: who has not made it by then is
 * not in it, if all ranks of the parent are seen. */
static void find_size(const struct nccl_comms *comms, struct nccl_comm *comm)
{
	if (!comm->size && comm->id && comm->parent >= 0 &&
	    nccl_comms__is_complete(&comms->list[comm->parent]))
		comm->size = comm->rank_count;
}

static struct nccl_comm_meetings *meetings_of(const struct nccl_comms *comms,
					      struct nccl_comm *comm)
{
	uint32_t size = comm->rank_count, compared = 0, most = comms->limits.compared;
	size_t kernels = (size_t)MEETINGS * size;

	if (comm->meetings && comm->meetings->size == size)
		return comm->meetings;
	if (comm->meetings && !comms->partial)
		return NULL;
	free(comm->meetings);
	comm->meetings = NULL;
	find_size(comms, comm);
	if (!comm->id || !(comms->partial || nccl_comms__is_complete(comm)) || size < 2 ||
	    size > MAX_MET)
		return NULL;
	for (uint32_t i = 0; i < comms->count; i++)
		compared += comms->list[i].meetings ? comms->list[i].meetings->size : 0;
	if (compared + size > (most && most < MAX_COMPARED ? most : MAX_COMPARED))
		return NULL;
	comm->meetings = calloc(1, sizeof(*comm->meetings) +
					   sizeof(uint64_t) * kernels * (comms->waited ? 2 : 1));
	if (!comm->meetings)
		return NULL;
	comm->meetings->size = size;
	if (comms->waited)
		comm->meetings->starts = &comm->meetings->durations[kernels];
	return comm->meetings;
}

static uint64_t bytes_of(const struct nccl_comm_work *work)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < work->part_count; i++)
		bytes += work->parts[i].bytes;
	return bytes;
}

double comm_meetings__share(const struct nccl_comm_work *work, uint32_t part)
{
	uint64_t bytes = bytes_of(work);

	return bytes ? (double)work->parts[part].bytes / bytes : 1.0 / work->part_count;
}

static void note_skew(struct nccl_comm *comm, uint64_t ns)
{
	uint32_t bucket = ns > 1 ? 64 - __builtin_clzll(ns - 1) : 0;

	comm->skew_ns += ns;
	comm->skews[bucket < NCCL_COMM_SKEWS ? bucket : NCCL_COMM_SKEWS - 1]++;
}

static void note_last(struct nccl_comm_rank *last, uint64_t waited)
{
	int level = 0;

	if (waited < NCCL_COMM_LATE_NS)
		return;
	while (level + 1 < NCCL_COMM_LEVELS && waited >> (level + 1) >= NCCL_COMM_LATE_NS)
		level++;
	last->late[level]++;
	last->late_ns[level] += waited;
	last->last++;
	last->last_ns += waited;
}

static void tell_waits(const struct nccl_comms *comms, const struct nccl_comm *comm,
		       const struct nccl_comm_work *work, const struct meeting *meeting)
{
	const struct nccl_comm_meetings *meetings = comm->meetings;
	size_t first = (meeting - meetings->list) * (size_t)meetings->size;

	if (!meetings->starts)
		return;
	for (uint32_t i = 0; i < meetings->size; i++)
		if (!comm->ranks[i].host)
			comms->waited(
				comms->context,
				&(struct collective_wait){
					.pid = comm->ranks[i].pid,
					.start = meetings->starts[first + i],
					.ns = meetings->durations[first + i] - meeting->shortest,
					.function = work->parts[0].function,
					.last = comm->ranks[meeting->last].rank,
				});
}

static void conclude(struct nccl_comm *comm, const struct nccl_comm_work *work,
		     const struct meeting *meeting)
{
	const struct nccl_comm_meetings *meetings = comm->meetings;
	const uint64_t *durations =
		&meetings->durations[(meeting - meetings->list) * (size_t)meetings->size];
	uint64_t waited = meeting->sum - meeting->shortest * meetings->size, skew = 0;

	comm->met++;
	for (uint32_t i = 0; i < work->part_count; i++) {
		struct nccl_comm_sums *sums = &comm->sums[work->parts[i].function];

		sums->met += (uint64_t)work->parts[i].calls * meetings->size;
		sums->met_bytes += work->parts[i].bytes * meetings->size;
		sums->transfer_ns +=
			comm_meetings__share(work, i) * meeting->shortest * meetings->size;
		sums->wait_ns += comm_meetings__share(work, i) * waited;
	}
	for (uint32_t i = 0; i < meetings->size; i++) {
		uint64_t wait = durations[i] - meeting->shortest;

		comm->ranks[i].wait_ns += wait;
		comm->ranks[i].compared++;
		skew = wait > skew ? wait : skew;
	}
	note_skew(comm, skew);
	note_last(&comm->ranks[meeting->last], waited / (meetings->size - 1));
}

/* Calls follow each other. Replays have the same lower bits again and again. */
static uint32_t place_of(uint64_t number)
{
	if (number & NCCL_COMM_REPLAYED)
		number = number * 0x9e3779b97f4a7c15ull >> 32;
	return number % MEETINGS;
}

bool comm_meetings__all_wait(const struct nccl_comm_work *work)
{
	for (uint32_t i = 0; i < work->part_count; i++)
		switch (work->parts[i].function) {
		case NCCL_ALL_REDUCE:
		case NCCL_ALL_GATHER:
		case NCCL_REDUCE_SCATTER:
		case NCCL_ALL_TO_ALL:
			break;
		default:
			return false;
		}
	return work->part_count;
}

/* The same number in all ranks; false: it is not known. */
static bool find_number(struct nccl_comm *comm, const struct nccl_comm_work *work, uint64_t end,
			uint64_t *number)
{
	const struct ended_collective ended = {.number = work->number,
					       .end = end,
					       .bytes = bytes_of(work),
					       .function = work->parts[0].function};

	*number = work->number;
	if (!comm->found)
		return true;
	if (comm->alignment && comm_alignment__ranks(comm->alignment) != comm->meetings->size) {
		free(comm->alignment);
		comm->alignment = NULL;
	}
	if (!comm->alignment)
		comm->alignment = comm_alignment__new(comm->meetings->size);
	if (!comm->alignment)
		return false;
	if (comm_meetings__all_wait(work))
		comm_alignment__note(comm->alignment, work->rank, &ended);
	return comm_alignment__number(comm->alignment, work->rank, number);
}

/* Each rank counts once: what a group launches beyond its first kernel waits for nobody. */
void comm_meetings__add(struct nccl_comms *comms, const struct nccl_comm_work *work, uint64_t start,
			uint64_t end)
{
	struct nccl_comm *comm = &comms->list[work->comm];
	struct nccl_comm_rank *rank = &comm->ranks[work->rank];
	struct nccl_comm_meetings *meetings = meetings_of(comms, comm);
	uint64_t number, ns = end > start ? end - start : 0;
	bool replayed = work->number & NCCL_COMM_REPLAYED;
	struct meeting *meeting;
	uint64_t *durations;
	uint32_t place;

	if (!meetings || !find_number(comm, work, end, &number))
		return;
	/* Of a found one, what was made before it was found again may still come. */
	if (!replayed && (comm->found ? number + 1 == rank->next : number < rank->next))
		return;
	if (!replayed)
		rank->next = number + 1;
	place = place_of(number);
	meeting = &meetings->list[place];
	durations = &meetings->durations[place * (size_t)meetings->size];
	if (meeting->number != number + 1) {
		comm->unmet += meeting->number != 0;
		*meeting = (struct meeting){.number = number + 1, .shortest = UINT64_MAX};
		for (uint32_t i = 0; i < meetings->size; i++)
			durations[i] = MISSING;
	}
	if (durations[work->rank] != MISSING)
		return;
	durations[work->rank] = ns;
	if (meetings->starts)
		meetings->starts[place * (size_t)meetings->size + work->rank] = start;
	meeting->came++;
	meeting->sum += ns;
	if (ns < meeting->shortest) {
		meeting->shortest = ns;
		meeting->last = work->rank;
	}
	if (meeting->came < meetings->size)
		return;
	conclude(comm, work, meeting);
	if (comm_meetings__all_wait(work))
		tell_waits(comms, comm, work, meeting);
	meeting->number = 0;
}
