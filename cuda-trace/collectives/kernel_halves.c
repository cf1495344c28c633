// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/collectives/kernel_halves.h"

#include <stdlib.h>

#define MAX_HALVES 65536 /* of a process */

static void free_half(struct kernel_halves *halves, struct kernel_half **link)
{
	struct kernel_half *half = *link;

	*link = half->next;
	free(half);
	halves->count--;
	halves->comms->waiting--;
}

void kernel_halves__forget(struct kernel_halves *halves)
{
	for (int i = 0; i < KERNEL_HALVES_BUCKETS; i++)
		while (halves->buckets[i]) {
			if (!halves->buckets[i]->is_kernel)
				halves->comms->unlaunched++;
			else if (halves->buckets[i]->node)
				halves->comms->unknown_nodes++;
			free_half(halves, &halves->buckets[i]);
		}
}

static struct kernel_half **find(struct kernel_halves *halves, uint32_t correlation, uint64_t node)
{
	struct kernel_half **link = &halves->buckets[(correlation + node) % KERNEL_HALVES_BUCKETS];

	while (*link && ((*link)->correlation != correlation || (*link)->node != node))
		link = &(*link)->next;
	return link;
}

static bool is_full(const struct kernel_halves *halves)
{
	const struct nccl_comms *comms = halves->comms;

	return halves->count >= MAX_HALVES ||
	       (comms->limits.waiting && comms->waiting >= comms->limits.waiting);
}

static void keep(struct kernel_halves *halves, const struct kernel_half *half)
{
	struct kernel_half **link, *kept;

	if (is_full(halves))
		kernel_halves__forget(halves);
	kept = is_full(halves) ? NULL : malloc(sizeof(*kept));
	if (!kept) {
		halves->comms->unlaunched += !half->is_kernel;
		return;
	}
	link = find(halves, half->correlation, half->node);
	*kept = *half;
	kept->next = *link;
	*link = kept;
	halves->count++;
	halves->comms->waiting++;
}

static void complete(struct nccl_comms *comms, const struct kernel_half *call,
		     const struct kernel_half *kernel)
{
	struct nccl_comm *comm = &comms->list[call->work.comm];

	nccl_comms__kernel(comms, &call->work, kernel->start, kernel->end);
	if (call->work.rank < comm->rank_count)
		comm->ranks[call->work.rank].device = kernel->device;
}

void kernel_halves__put(struct kernel_halves *halves, const struct kernel_half *half)
{
	struct kernel_half **link = find(halves, half->correlation, half->node);
	const struct kernel_half *kernel = half->is_kernel ? half : *link;
	const struct kernel_half *call = half->is_kernel ? *link : half;

	if (!*link) {
		keep(halves, half);
		return;
	}
	if (kernel->is_kernel && !call->is_kernel)
		complete(halves->comms, call, kernel);
	free_half(halves, link);
}

void kernel_halves__drop(struct kernel_halves *halves, uint32_t correlation)
{
	struct kernel_half **link = find(halves, correlation, 0);

	if (*link && !(*link)->is_kernel)
		free_half(halves, link);
}

struct nccl_comm_work *kernel_halves__call(struct kernel_halves *halves,
					   const struct kernel_half *half)
{
	struct kernel_half *found = *find(halves, half->correlation, half->node);

	return found && !found->is_kernel ? &found->work : NULL;
}
