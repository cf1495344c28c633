// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replays have no calls, and so no numbers that are the same in all ranks. But ranks that call the
 * same collectives also capture the same graphs, in the same order, and replay them as often: a
 * replayed collective is numbered by graph, replay, and place in the graph.
 *
 * Failure modes: 1. a graph was captured before it was observed: its kernels are counted as
 * unknown.
 * 2. ranks do not capture the same: their numbers do not meet, and nothing is compared. 3. a
 * process makes nodes for ever: they are bounded, and what does not fit is unknown.
 */
#include "cuda-trace/collectives/graph_collectives.h"

#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"

#define RECENT	   32U /* nodes, and launches, that wait for each other */
#define MAX_NODES  65536U
#define MAX_GRAPHS 1024U
#define PLACE_BITS 16 /* of a collective in its graph */
#define TURN_BITS  32 /* of a replay */

struct graph {
	uint32_t id;
	uint32_t correlation; /* of its latest replay */
	uint64_t replays;
	uint32_t nodes;
};

struct node {
	struct nccl_comm_work work;
	uint32_t graph; /* index */
	uint32_t place; /* in it */
};

struct graph_collectives {
	struct nccl_comms *comms;
	struct key_index index; /* node ids */
	struct node *nodes;
	uint32_t node_count, node_capacity;
	struct graph *graphs;
	uint32_t graph_count, graph_capacity;
	struct cuda_graph_node created[RECENT];
	struct graph_collectives_launch launches[RECENT];
	uint32_t created_count, launch_count; /* so far */
};

struct graph_collectives *graph_collectives__new(struct nccl_comms *comms)
{
	struct graph_collectives *graphs = calloc(1, sizeof(*graphs));

	if (graphs)
		graphs->comms = comms;
	return graphs;
}

void graph_collectives__free(struct graph_collectives *graphs)
{
	if (!graphs)
		return;
	graphs->comms->waiting -= graphs->node_count;
	key_index__free(&graphs->index);
	free(graphs->nodes);
	free(graphs->graphs);
	free(graphs);
}

/* Index; below 0: there are too many. The latest one is the likely one. */
static int graph_of(struct graph_collectives *graphs, uint32_t id)
{
	for (uint32_t i = graphs->graph_count; i-- > 0;)
		if (graphs->graphs[i].id == id)
			return (int)i;
	if (graphs->graph_count == MAX_GRAPHS ||
	    !array_grow__for_one(graphs->graphs, graphs->graph_capacity, graphs->graph_count))
		return -1;
	graphs->graphs[graphs->graph_count] = (struct graph){.id = id};
	return (int)graphs->graph_count++;
}

static bool is_full(const struct graph_collectives *graphs)
{
	const struct nccl_comms *comms = graphs->comms;

	return graphs->node_count == MAX_NODES ||
	       (comms->limits.waiting && comms->waiting >= comms->limits.waiting);
}

static void add_node(struct graph_collectives *graphs, uint64_t id, uint32_t graph_id,
		     const struct nccl_comm_work *work)
{
	int graph;

	if (is_full(graphs) ||
	    !array_grow__for_one(graphs->nodes, graphs->node_capacity, graphs->node_count))
		return;
	graph = graph_of(graphs, graph_id);
	if (graph < 0 || !key_index__add(&graphs->index, id, graphs->node_count))
		return;
	graphs->nodes[graphs->node_count++] = (struct node){
		.work = *work, .graph = graph, .place = graphs->graphs[graph].nodes++};
	graphs->comms->waiting++;
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
		 const struct nccl_comm_work *work)
{
	uncount_calls(graphs->comms, work);
	add_node(graphs, node->node, node->graph, work);
}

bool graph_collectives__launch(struct graph_collectives *graphs,
			       const struct graph_collectives_launch *launch)
{
	if (!graphs)
		return false;
	for (uint32_t i = 0; i < RECENT; i++)
		if (graphs->created[i].node && created(launch, &graphs->created[i])) {
			bind(graphs, &graphs->created[i], &launch->work);
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
		bind(graphs, node, &launch->work);
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
	if (original >= 0) {
		const struct nccl_comm_work work = graphs->nodes[original].work;

		add_node(graphs, node->node, node->graph, &work);
	}
	return 0;
}

/* Of all replays of all graphs; the highest bit distinguishes them from calls. */
static uint64_t number_of(struct graph_collectives *graphs, const struct node *node,
			  uint32_t correlation)
{
	struct graph *graph = &graphs->graphs[node->graph];

	if (graph->correlation != correlation) {
		graph->correlation = correlation;
		graph->replays++;
	}
	return NCCL_COMM_REPLAYED | (uint64_t)node->graph << (TURN_BITS + PLACE_BITS) |
	       (graph->replays & ((1ull << TURN_BITS) - 1)) << PLACE_BITS |
	       (node->place & ((1u << PLACE_BITS) - 1));
}

void graph_collectives__kernel(struct graph_collectives *graphs, const struct cuda_kernel *kernel)
{
	struct nccl_comm_work work;
	struct nccl_comm *comm;
	ssize_t found;

	if (!graphs)
		return;
	found = key_index__find(&graphs->index, kernel->graph_node);
	if (found < 0) {
		graphs->comms->unknown_nodes++;
		return;
	}
	work = graphs->nodes[found].work;
	work.number = number_of(graphs, &graphs->nodes[found], kernel->head.correlation);
	comm = &graphs->comms->list[work.comm];
	/* The communicator was dropped meanwhile. */
	if (work.rank >= comm->rank_count)
		return;
	for (uint32_t i = 0; i < work.part_count; i++) {
		comm->sums[work.parts[i].function].calls += work.parts[i].calls;
		comm->sums[work.parts[i].function].bytes += work.parts[i].bytes;
	}
	nccl_comms__kernel(graphs->comms, &work, kernel->start, kernel->end);
	comm->ranks[work.rank].device = kernel->device;
}
