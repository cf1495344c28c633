// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replays have no calls, and so no numbers that are the same in all ranks. But the call that was
 * captured has one, and ranks replay as often what they captured together: a replayed collective is
 * numbered by that call, and by how often it was replayed.
 *
 * Failure modes: 1. a graph was captured before it was observed: its kernels are counted as
 * unknown.
 * 2. kernels of a replay are missing, because they were lost: the numbers of a rank do not meet
 * those of the others any more. Where that is so on purpose (`gaps`), replays have no numbers.
 * 3. a process makes nodes for ever: they are bounded, and what does not fit is unknown.
 * 4. the communicator was made before it was observed: the captured call's number is not the same
 * in all ranks, and replays have none.
 */
#include "cuda-trace/collectives/graph_collectives.h"

#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"

#define RECENT	  32U /* nodes, and launches, that wait for each other */
#define MAX_NODES 65536U
#define CALL_BITS 31 /* of the captured call's number */
#define TURN_BITS 32 /* of a replay */

/* What was captured: a node and its copies. */
struct capture {
	struct nccl_comm_work work;
	uint64_t issue;
	uint64_t replays;
	bool again;
};

struct graph_collectives {
	struct nccl_comms *comms;
	struct graph_collectives_options options;
	struct key_index index; /* node ids: captures */
	struct capture *captures;
	uint32_t capture_count, capture_capacity, node_count;
	struct cuda_graph_node created[RECENT];
	struct graph_collectives_launch launches[RECENT];
	uint32_t created_count, launch_count; /* so far */
};

struct graph_collectives *graph_collectives__new(struct nccl_comms *comms,
						 const struct graph_collectives_options *options)
{
	struct graph_collectives *graphs = calloc(1, sizeof(*graphs));

	if (!graphs)
		return NULL;
	graphs->comms = comms;
	graphs->options = *options;
	return graphs;
}

void graph_collectives__free(struct graph_collectives *graphs)
{
	if (!graphs)
		return;
	graphs->comms->waiting -= graphs->node_count;
	key_index__free(&graphs->index);
	free(graphs->captures);
	free(graphs);
}

static bool is_full(const struct graph_collectives *graphs)
{
	const struct nccl_comms *comms = graphs->comms;

	return graphs->node_count == MAX_NODES ||
	       (comms->limits.waiting && comms->waiting >= comms->limits.waiting);
}

static bool add_node(struct graph_collectives *graphs, uint64_t id, uint32_t capture)
{
	if (is_full(graphs) || !key_index__add(&graphs->index, id, capture))
		return false;
	graphs->node_count++;
	graphs->comms->waiting++;
	return true;
}

/* What was captured was not executed. */
static void uncount_calls(struct nccl_comms *comms, const struct nccl_comm_work *work)
{
	for (uint32_t i = 0; i < work->part_count; i++) {
		struct nccl_comm_sums *sums =
			&comms->list[work->comm].sums[work->parts[i].function];

		sums->calls -= work->parts[i].calls;
		sums->bytes -= work->parts[i].bytes;
	}
}

static bool created(const struct graph_collectives_launch *launch,
		    const struct cuda_graph_node *node)
{
	return launch->tid == node->tid && launch->start <= node->start &&
	       node->start <= launch->end;
}

static void bind(struct graph_collectives *graphs, const struct cuda_graph_node *node,
		 const struct graph_collectives_launch *launch)
{
	if (!launch->again)
		uncount_calls(graphs->comms, &launch->work);
	if (!launch->again && graphs->options.captured)
		graphs->options.captured(graphs->options.context, launch->issue, node->node);
	if (!array_grow__for_one(graphs->captures, graphs->capture_capacity,
				 graphs->capture_count) ||
	    !add_node(graphs, node->node, graphs->capture_count))
		return;
	graphs->captures[graphs->capture_count++] = (struct capture){
		.work = launch->work, .issue = launch->issue, .again = launch->again};
}

bool graph_collectives__launch(struct graph_collectives *graphs,
			       const struct graph_collectives_launch *launch)
{
	if (!graphs)
		return false;
	for (uint32_t i = 0; i < RECENT; i++)
		if (graphs->created[i].node && created(launch, &graphs->created[i])) {
			bind(graphs, &graphs->created[i], launch);
			graphs->created[i].node = 0;
			return true;
		}
	graphs->launches[graphs->launch_count++ % RECENT] = *launch;
	return false;
}

static uint32_t note_created(struct graph_collectives *graphs, const struct cuda_graph_node *node)
{
	for (uint32_t i = 0; i < RECENT; i++) {
		struct graph_collectives_launch *launch = &graphs->launches[i];

		if (!launch->correlation || !created(launch, node))
			continue;
		bind(graphs, node, launch);
		return launch->correlation;
	}
	graphs->created[graphs->created_count++ % RECENT] = *node;
	return 0;
}

uint32_t graph_collectives__node(struct graph_collectives *graphs,
				 const struct cuda_graph_node *node)
{
	ssize_t original;

	if (!graphs || !node->node)
		return 0;
	if (!node->original)
		return note_created(graphs, node);
	original = key_index__find(&graphs->index, node->original);
	if (original >= 0)
		add_node(graphs, node->node, original);
	return 0;
}

/* Of all replays of the communicator; the highest bit distinguishes them from calls. */
static uint64_t number_of(const struct capture *capture)
{
	return NCCL_COMM_REPLAYED |
	       (capture->work.number & ((1ull << CALL_BITS) - 1)) << TURN_BITS |
	       (capture->replays & ((1ull << TURN_BITS) - 1));
}

static void count_calls(struct nccl_comm *comm, const struct nccl_comm_work *work)
{
	for (uint32_t i = 0; i < work->part_count; i++) {
		comm->sums[work->parts[i].function].calls += work->parts[i].calls;
		comm->sums[work->parts[i].function].bytes += work->parts[i].bytes;
	}
}

void graph_collectives__kernel(struct graph_collectives *graphs, const struct cuda_kernel *kernel)
{
	struct nccl_comm_work work;
	struct capture *capture;
	struct nccl_comm *comm;
	ssize_t found;

	if (!graphs)
		return;
	found = key_index__find(&graphs->index, kernel->graph_node);
	if (found < 0) {
		graphs->comms->unknown_nodes++;
		return;
	}
	capture = &graphs->captures[found];
	work = capture->work;
	work.numbered &=
		!capture->again && !graphs->options.gaps && !graphs->comms->list[work.comm].found;
	capture->replays++;
	work.number = number_of(capture);
	if (!capture->again && graphs->options.replayed)
		graphs->options.replayed(graphs->options.context, capture->issue,
					 work.numbered ? work.number : 0, kernel);
	comm = &graphs->comms->list[work.comm];
	/* The communicator was dropped meanwhile. */
	if (work.rank >= comm->rank_count)
		return;
	if (!capture->again)
		count_calls(comm, &work);
	nccl_comms__kernel(graphs->comms, &work, kernel->start, kernel->end);
	comm->ranks[work.rank].device = kernel->device;
}
