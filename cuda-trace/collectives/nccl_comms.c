// SPDX-License-Identifier: BSD-2-Clause
/* One thread. What processes say is untrusted: everything is bounded. */
#include "cuda-trace/collectives/nccl_comms.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/collectives/comm_alignment.h"

#define MAX_COMMS 4096
#define MAX_RANKS 1024 /* of one communicator on this host */
/* Collectives that wait for the kernels of some ranks: records of two processes come up to a second
 * apart. */
#define MEETINGS 4096
#define MAX_MET	 1024 /* ranks of a communicator that are compared */
/* Ranks of all these communicators: 128 MiB, twice that with waited(). */
#define MAX_COMPARED 4096

/* A verdict needs so many collectives to which somebody comes late, to most of which it is one
 * rank, and an amount that matters. What "late" is depends on the host's jitter and on what causes
 * it, so that levels are tried from the lowest one up. Of a step with ten collectives one may be
 * late. */
#define LEAST_LATE	 30
#define LEAST_SHARE	 0.8
#define LEAST_TIME_SHARE 0.05

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

static uint32_t limit(uint32_t chosen, uint32_t most)
{
	return chosen && chosen < most ? chosen : most;
}

/* When the last of its ranks ended; 0 = one has not. A place that is free ended first of all. */
static uint64_t end_of(const struct nccl_comm *comm)
{
	uint64_t end = 1;

	for (uint32_t i = 0; i < comm->rank_count; i++) {
		if (!comm->ranks[i].ended_ns)
			return 0;
		if (comm->ranks[i].ended_ns > end)
			end = comm->ranks[i].ended_ns;
	}
	return end;
}

static void free_comm(struct nccl_comm *comm)
{
	for (uint32_t i = 0; i < comm->rank_count; i++)
		free(comm->ranks[i].shown);
	free(comm->ranks);
	free(comm->meetings);
	free(comm->alignment);
	*comm = (struct nccl_comm){.parent = -1};
}

/* Nobody refers to it any more but its children, and calls whose launch has not come yet. */
static void drop(struct nccl_comms *comms, uint32_t index)
{
	free_comm(&comms->list[index]);
	for (uint32_t i = 0; i < comms->count; i++)
		if (comms->list[i].parent == (int32_t)index)
			comms->list[i].parent = -1;
}

/* A place of one that is gone: the longest, if there are too many. Below 0: there is none. */
static int reuse(struct nccl_comms *comms)
{
	uint64_t earliest = comms->count >= limit(comms->limits.comms, MAX_COMMS) ? UINT64_MAX : 2;
	int found = -1;

	for (uint32_t i = 0; i < comms->count; i++) {
		uint64_t end = end_of(&comms->list[i]);

		if (!end || end >= earliest)
			continue;
		earliest = end;
		found = i;
	}
	if (found >= 0)
		drop(comms, found);
	return found;
}

int nccl_comms__find(struct nccl_comms *comms, uint64_t id, uint32_t size, int32_t parent)
{
	int place;

	for (uint32_t i = 0; id && i < comms->count; i++)
		if (comms->list[i].id == id)
			return i;
	place = reuse(comms);
	if (place < 0 && comms->count < limit(comms->limits.comms, MAX_COMMS) &&
	    array_grow__for_one(comms->list, comms->capacity, comms->count))
		place = comms->count++;
	if (place < 0) {
		comms->left_out++;
		return -1;
	}
	comms->list[place] = (struct nccl_comm){.id = id, .size = size, .parent = parent};
	return place;
}

/* Also again: then one has forgotten where it was. */
void nccl_comms__found(struct nccl_comms *comms, uint32_t index)
{
	struct nccl_comm *comm = &comms->list[index];

	comm->found = true;
	free(comm->alignment);
	comm->alignment = NULL;
	for (uint32_t i = 0; i < comm->rank_count; i++)
		comm->ranks[i].next = 0;
}

static bool has_space(struct nccl_comms *comms)
{
	uint32_t ranks = 0;

	if (!comms->limits.ranks)
		return true;
	for (uint32_t i = 0; i < comms->count; i++)
		ranks += comms->list[i].rank_count;
	return ranks < comms->limits.ranks;
}

int nccl_comms__rank(struct nccl_comms *comms, uint32_t comm, uint32_t pid, int32_t rank)
{
	struct nccl_comm *of = &comms->list[comm];

	for (uint32_t i = 0; i < of->rank_count; i++)
		if (of->ranks[i].pid == pid && of->ranks[i].rank == rank) {
			of->ranks[i].ended_ns = 0;
			return i;
		}
	if (of->rank_count >= MAX_RANKS || !has_space(comms) ||
	    !array_grow__for_one(of->ranks, of->rank_capacity, of->rank_count)) {
		comms->ranks_left_out++;
		return -1;
	}
	of->ranks[of->rank_count] = (struct nccl_comm_rank){.pid = pid, .rank = rank};
	return of->rank_count++;
}

static bool is_complete(const struct nccl_comm *comm)
{
	return comm->size && comm->rank_count == comm->size;
}

/* A split is made by all ranks before any of its kernels can end: who has not made it by then is
 * not in it, if all ranks of the parent are seen. */
static void find_size(const struct nccl_comms *comms, struct nccl_comm *comm)
{
	if (!comm->size && comm->id && comm->parent >= 0 && is_complete(&comms->list[comm->parent]))
		comm->size = comm->rank_count;
}

static struct nccl_comm_meetings *meetings_of(const struct nccl_comms *comms,
					      struct nccl_comm *comm)
{
	uint32_t size = comm->rank_count, compared = 0;
	size_t kernels = (size_t)MEETINGS * size;

	if (comm->meetings && comm->meetings->size == size)
		return comm->meetings;
	if (comm->meetings && !comms->partial)
		return NULL;
	free(comm->meetings);
	comm->meetings = NULL;
	find_size(comms, comm);
	if (!comm->id || !(comms->partial || is_complete(comm)) || size < 2 || size > MAX_MET)
		return NULL;
	for (uint32_t i = 0; i < comms->count; i++)
		compared += comms->list[i].meetings ? comms->list[i].meetings->size : 0;
	if (compared + size > limit(comms->limits.compared, MAX_COMPARED))
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

/* What one kernel does for several operations is divided by their bytes. */
static double share_of(const struct nccl_comm_work *work, uint32_t part)
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
		sums->transfer_ns += share_of(work, i) * meeting->shortest * meetings->size;
		sums->wait_ns += share_of(work, i) * waited;
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

/* Nobody leaves before all have come: of a broadcast or a reduction, the root or the others may. */
static bool all_wait(const struct nccl_comm_work *work)
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
	if (all_wait(work))
		comm_alignment__note(comm->alignment, work->rank, &ended);
	return comm_alignment__number(comm->alignment, work->rank, number);
}

/* Each rank counts once: what a group launches beyond its first kernel waits for nobody. */
static void meet(struct nccl_comms *comms, const struct nccl_comm_work *work, uint64_t start,
		 uint64_t end)
{
	struct nccl_comm *comm = &comms->list[work->comm];
	struct nccl_comm_rank *rank = &comm->ranks[work->rank];
	struct nccl_comm_meetings *meetings = meetings_of(comms, comm);
	uint64_t number, ns = end > start ? end - start : 0;
	bool replayed = work->number & NCCL_COMM_REPLAYED;
	struct meeting *meeting;
	uint32_t place;

	if (!meetings || !find_number(comm, work, end, &number) ||
	    (!replayed && number < rank->next))
		return;
	if (!replayed)
		rank->next = number + 1;
	place = place_of(number);
	meeting = &meetings->list[place];
	if (meeting->number != number + 1) {
		comm->unmet += meeting->number != 0;
		*meeting = (struct meeting){.number = number + 1, .shortest = UINT64_MAX};
	}
	meetings->durations[place * (size_t)meetings->size + work->rank] = ns;
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
	if (all_wait(work))
		tell_waits(comms, comm, work, meeting);
	meeting->number = 0;
}

void nccl_comms__kernel(struct nccl_comms *comms, const struct nccl_comm_work *work, uint64_t start,
			uint64_t end)
{
	struct nccl_comm *comm = &comms->list[work->comm];
	uint64_t ns = end > start ? end - start : 0;

	/* The communicator was dropped meanwhile. */
	if (work->rank >= comm->rank_count)
		return;
	if (!comm->first_ns || start < comm->first_ns)
		comm->first_ns = start;
	if (end > comm->last_ns)
		comm->last_ns = end;
	comm->ranks[work->rank].gpu_ns += ns;
	if (all_wait(work)) {
		comm->ranks[work->rank].kernels++;
		comm->ranks[work->rank].kernels_ns += ns;
	}
	for (uint32_t i = 0; i < work->part_count; i++) {
		struct nccl_comm_sums *sums = &comm->sums[work->parts[i].function];

		sums->gpu_ns += share_of(work, i) * ns;
		sums->kernels++;
	}
	if (work->numbered)
		meet(comms, work, start, end);
}

/* Of those that are late by a level or more. */
static void find_late(const struct nccl_comm *comm, int level, struct nccl_comm_late *late)
{
	uint64_t all = 0;

	*late = (struct nccl_comm_late){};
	for (uint32_t i = 0; i < comm->rank_count; i++) {
		struct nccl_comm_late one = {.rank = &comm->ranks[i]};

		for (int k = level; k < NCCL_COMM_LEVELS; k++) {
			one.count += one.rank->late[k];
			one.ns += one.rank->late_ns[k];
		}
		all += one.count;
		if (one.count > late->count)
			*late = one;
	}
	if (late->count < LEAST_LATE || late->count < LEAST_SHARE * all ||
	    late->ns < LEAST_TIME_SHARE * (comm->last_ns - comm->first_ns))
		late->rank = NULL;
}

static enum nccl_comm_verdict verdict_of(const struct nccl_comm *comm, bool all,
					 struct nccl_comm_late *late)
{
	late->rank = NULL;
	if (!comm->id)
		return NCCL_COMM_UNKNOWN;
	if (!comm->last_ns)
		return NCCL_COMM_UNTIMED;
	if (all ? !is_complete(comm) : comm->rank_count < 2)
		return NCCL_COMM_RANKS_MISSING;
	if (comm->found && !(comm->alignment && comm_alignment__is_complete(comm->alignment)))
		return NCCL_COMM_UNALIGNED;
	if (comm->met < LEAST_LATE)
		return NCCL_COMM_TOO_FEW;
	for (int level = 0; level < NCCL_COMM_LEVELS && !late->rank; level++)
		find_late(comm, level, late);
	return late->rank ? NCCL_COMM_LATE : NCCL_COMM_BALANCED;
}

enum nccl_comm_verdict nccl_comms__verdict(const struct nccl_comm *comm,
					   struct nccl_comm_late *late)
{
	return verdict_of(comm, true, late);
}

enum nccl_comm_verdict nccl_comms__verdict_here(const struct nccl_comm *comm,
						struct nccl_comm_late *late)
{
	return verdict_of(comm, false, late);
}

void nccl_comms__forget_late(struct nccl_comm *comm)
{
	for (uint32_t i = 0; i < comm->rank_count; i++) {
		memset(comm->ranks[i].late, 0, sizeof(comm->ranks[i].late));
		memset(comm->ranks[i].late_ns, 0, sizeof(comm->ranks[i].late_ns));
	}
	comm->met = 0;
	comm->first_ns = comm->last_ns = 0;
}

void nccl_comms__end(struct nccl_comms *comms, uint32_t pid, uint64_t now_ns)
{
	for (uint32_t i = 0; i < comms->count; i++)
		for (uint32_t k = 0; k < comms->list[i].rank_count; k++) {
			struct nccl_comm_rank *rank = &comms->list[i].ranks[k];

			if (rank->pid == pid && !rank->ended_ns)
				rank->ended_ns = now_ns;
		}
}

void nccl_comms__expire(struct nccl_comms *comms, uint64_t before_ns)
{
	for (uint32_t i = 0; i < comms->count; i++) {
		uint64_t end = end_of(&comms->list[i]);

		if (end && end < before_ns)
			drop(comms, i);
	}
}

/* How many times the bytes of a call all ranks' data is, and what share of that crosses the bus: as
 * PERFORMANCE.md of nccl-tests derives it. */
double nccl_comms__bus_bandwidth(const struct nccl_comm *comm, uint32_t function)
{
	const struct nccl_comm_sums *sums = &comm->sums[function];
	double n = comm->size, rate;

	if (!sums->transfer_ns || n < 2)
		return 0;
	rate = sums->met_bytes / (sums->transfer_ns / 1e9);
	switch (function) {
	case NCCL_ALL_REDUCE:
		return rate * 2 * (n - 1) / n;
	case NCCL_ALL_GATHER:
	case NCCL_REDUCE_SCATTER:
	case NCCL_ALL_TO_ALL:
	case NCCL_GATHER:
	case NCCL_SCATTER:
		return rate * (n - 1);
	default:
		return rate;
	}
}

void nccl_comms__free(struct nccl_comms *comms)
{
	for (uint32_t i = 0; i < comms->count; i++)
		free_comm(&comms->list[i]);
	free(comms->list);
	*comms = (struct nccl_comms){};
}
