// SPDX-License-Identifier: BSD-2-Clause
/*
 * A verdict needs some collectives, which take a program milliseconds or minutes. So a window lasts
 * until it has some, but neither so short that it is a moment nor so long that it is history.
 */
#include "cuda-trace/collectives/comm_windows.h"

#include <stddef.h>

#define SHORTEST_NS 5000000000ull
#define LONGEST_NS  60000000000ull
#define ENOUGH	    100 /* collectives */

static const struct nccl_comm_rank *late_now(const struct nccl_comm *comm)
{
	struct nccl_comm_late late;

	return nccl_comms__verdict_here(comm, &late) == NCCL_COMM_LATE ? late.rank : NULL;
}

bool comm_windows__is_settled(const struct nccl_comm *comm, uint64_t now_ns)
{
	return comm->window_ns && now_ns - comm->window_ns >= SHORTEST_NS;
}

void comm_windows__follow(struct nccl_comms *comms, uint64_t now_ns)
{
	for (uint32_t i = 0; i < comms->count; i++) {
		struct nccl_comm *comm = &comms->list[i];
		uint64_t age = now_ns - comm->window_ns;
		const struct nccl_comm_rank *late;

		if (comm->window_ns &&
		    (age < SHORTEST_NS || (comm->met < ENOUGH && age < LONGEST_NS)))
			continue;
		late = late_now(comm);
		comm->late_before = late ? late - comm->ranks + 1 : 0;
		comm->window_ns = now_ns;
		nccl_comms__forget_late(comm);
	}
}

const struct nccl_comm_rank *comm_windows__late(const struct nccl_comm *comm)
{
	const struct nccl_comm_rank *late = late_now(comm);

	if (late || !comm->late_before)
		return late;
	return &comm->ranks[comm->late_before - 1];
}
