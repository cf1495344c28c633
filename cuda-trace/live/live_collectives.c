// SPDX-License-Identifier: BSD-2-Clause
/* Any user's process may take part: everything has a limit, of all processes together. */
#include "cuda-trace/live/live_collectives.h"

#include <stdlib.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/collectives/collective_records.h"
#include "cuda-trace/collectives/comm_windows.h"

#define BUCKETS	     256
#define MAX_COMMS    256
#define MAX_COMPARED 512    /* ranks: with the communicators 48 MiB at most, with --idle 64 */
#define MAX_WAITING  131072 /* calls and kernels: 24 MiB */

/* A process that has called NCCL. */
struct caller {
	struct caller *next;
	const struct process *process;
	struct collectives *collectives;
};

struct live_collectives {
	struct nccl_comms comms;
	struct caller *buckets[BUCKETS];
};

struct live_collectives *live_collectives__open(struct session_options *options, uint32_t ranks)
{
	struct live_collectives *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->comms.partial = true;
	live->comms.limits = (struct nccl_comm_limits){MAX_COMMS, ranks, MAX_COMPARED, MAX_WAITING};
	options->groups |=
		1u << CUDA_GROUP_LAUNCH | 1u << CUDA_GROUP_KERNEL | 1u << CUDA_GROUP_GRAPH_NODES;
	options->collectives = true;
	options->ring_mib = 0;
	return live;
}

void live_collectives__notify(struct live_collectives *live,
			      void (*waited)(void *context, const struct collective_wait *waited),
			      void *context)
{
	live->comms.waited = waited;
	live->comms.context = context;
}

static struct caller **find(struct live_collectives *live, const struct process *process)
{
	struct caller **link = &live->buckets[process->pid % BUCKETS];

	while (*link && (*link)->process != process)
		link = &(*link)->next;
	return link;
}

static struct caller *add(struct live_collectives *live, const struct process *process)
{
	const struct collectives_options options = {
		.pid = process->pid, .rank = process->rank, .timed = true};
	struct caller *caller = calloc(1, sizeof(*caller));

	if (!caller)
		return NULL;
	caller->process = process;
	caller->collectives = collectives__new(&live->comms, &options);
	caller->next = live->buckets[process->pid % BUCKETS];
	live->buckets[process->pid % BUCKETS] = caller;
	return caller;
}

void live_collectives__call(struct live_collectives *live, struct process *process,
			    const struct event_collective *call)
{
	struct caller *caller = live ? *find(live, process) : NULL;

	if (live && !caller)
		caller = add(live, process);
	if (caller)
		collectives__call(caller->collectives, call);
}

void live_collectives__record(struct live_collectives *live, const struct process *process,
			      const struct cuda_record *record)
{
	const struct caller *caller = live ? *find(live, process) : NULL;

	if (caller)
		collective_records__put(caller->collectives, process, record);
}

void live_collectives__end(struct live_collectives *live, const struct process *process)
{
	struct caller **link = live ? find(live, process) : NULL, *caller;

	if (!link || !*link)
		return;
	caller = *link;
	*link = caller->next;
	collectives__free(caller->collectives);
	free(caller);
	nccl_comms__end(&live->comms, process->pid, monotonic__ns());
}

void live_collectives__follow(struct live_collectives *live)
{
	if (live)
		comm_windows__follow(&live->comms, monotonic__ns());
}

struct nccl_comms *live_collectives__comms(struct live_collectives *live)
{
	return live ? &live->comms : NULL;
}

void live_collectives__free(struct live_collectives *live)
{
	if (!live)
		return;
	for (int i = 0; i < BUCKETS; i++)
		while (live->buckets[i])
			live_collectives__end(live, live->buckets[i]->process);
	nccl_comms__free(&live->comms);
	free(live);
}
