// SPDX-License-Identifier: BSD-2-Clause
/* One thread. What processes say is untrusted: everything is bounded. */
#include "cuda-trace/collectives/nccl_comms.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/collectives/comm_alignment.h"
#include "cuda-trace/collectives/comm_meetings.h"

#define MAX_COMMS 4096
#define MAX_RANKS 1024 /* of one communicator on this host */

/* A verdict needs so many collectives to which somebody comes late, to most of which it is one
 * rank, and an amount that matters. What "late" is depends on the host's jitter and on what causes
 * it, so that levels are tried from the lowest one up. Of a step with ten collectives one may be
 * late. */
#define LEAST_LATE	 30
#define LEAST_SHARE	 0.8
#define LEAST_TIME_SHARE 0.05

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
	/* Numbers begin anew. */
	free(comm->meetings);
	comm->meetings = NULL;
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
	if (comm_meetings__all_wait(work)) {
		comm->ranks[work->rank].kernels++;
		comm->ranks[work->rank].kernels_ns += ns;
	}
	for (uint32_t i = 0; i < work->part_count; i++) {
		struct nccl_comm_sums *sums = &comm->sums[work->parts[i].function];

		sums->gpu_ns += comm_meetings__share(work, i) * ns;
		sums->kernels++;
	}
	if (work->numbered)
		comm_meetings__add(comms, work, start, end);
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
	if (all ? !nccl_comms__is_complete(comm) : comm->rank_count < 2)
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
