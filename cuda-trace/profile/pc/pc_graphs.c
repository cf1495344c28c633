// SPDX-License-Identifier: BSD-2-Clause
/*
 * A launch of an executable graph runs each of its nodes once. Its nodes are copies of those that
 * a call created, or copies of copies. Records come in any order, so they are joined at the end.
 *
 * The graph of a child node has an id of its own, and is launched with the one around it.
 *
 * Failure modes: 1. the wrong place: ids are CUPTI's, which it does not give twice in a process;
 * originals in a circle end after MAX_COPIES. 2. a graph looks complete and is not: what has no
 * place is counted. 3. graphs without end: MAX_NODES and MAX_GRAPHS are kept.
 */
#include "cuda-trace/profile/pc/pc_graphs.h"
#include <stdbool.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"

#define MAX_NODES  (1u << 18)
#define MAX_GRAPHS (1u << 16)
#define MAX_COPIES 64	/* of copies of a node */
#define MAX_PARTS  1024 /* graphs that are looked at, as they may be a part of another one */

struct node {
	uint64_t original; /* 0 = it is no copy */
	uint32_t graph;	   /* 0 = not known */
	uint32_t place;	   /* 0 = not known */
	bool is_kernel;
};

struct graph {
	uint64_t launches;
	uint32_t id;
	uint32_t tid;	 /* who created its first node */
	uint32_t around; /* id of the executable graph that it is a part of; 0 = of none */
	bool has_nodes;
};

struct pc_graphs {
	struct node *nodes;
	uint32_t node_count, node_capacity;
	struct key_index nodes_by_id;
	struct graph *graphs;
	uint32_t graph_count, graph_capacity;
	struct key_index graphs_by_id;
	uint64_t left_out;
};

struct pc_graphs *pc_graphs__new(void)
{
	return calloc(1, sizeof(struct pc_graphs));
}

void pc_graphs__free(struct pc_graphs *graphs)
{
	if (!graphs)
		return;
	free(graphs->nodes);
	free(graphs->graphs);
	key_index__free(&graphs->nodes_by_id);
	key_index__free(&graphs->graphs_by_id);
	free(graphs);
}

static struct node *node_of(struct pc_graphs *all, uint64_t id)
{
	ssize_t known = key_index__find(&all->nodes_by_id, id);

	if (known >= 0)
		return &all->nodes[known];
	if (all->node_count == MAX_NODES ||
	    !array_grow__zeroed(all->nodes, all->node_capacity, (size_t)all->node_count + 1) ||
	    !key_index__add(&all->nodes_by_id, id, all->node_count)) {
		all->left_out++;
		return NULL;
	}
	return &all->nodes[all->node_count++];
}

static struct graph *graph_of(struct pc_graphs *all, uint32_t id)
{
	ssize_t known = key_index__find(&all->graphs_by_id, id);

	if (known >= 0)
		return &all->graphs[known];
	if (all->graph_count == MAX_GRAPHS ||
	    !array_grow__zeroed(all->graphs, all->graph_capacity, (size_t)all->graph_count + 1) ||
	    !key_index__add(&all->graphs_by_id, id, all->graph_count)) {
		all->left_out++;
		return NULL;
	}
	all->graphs[all->graph_count].id = id;
	return &all->graphs[all->graph_count++];
}

/* A copy comes once as created and once with its original. */
void pc_graphs__node(struct pc_graphs *graphs, const struct cuda_graph_node *record)
{
	struct node *node = graphs ? node_of(graphs, record->node) : NULL;
	struct graph *graph = node && record->graph ? graph_of(graphs, record->graph) : NULL;

	if (!node)
		return;
	node->original = record->original ? record->original : node->original;
	node->graph = record->graph;
	if (!graph)
		return;
	if (!graph->has_nodes)
		graph->tid = record->tid;
	graph->has_nodes = true;
}

/* While a thread instantiates a graph, it creates no others: those that have later ids are parts of
 * it. The records of their nodes may come before those of its own. */
void pc_graphs__exec(struct pc_graphs *graphs, const struct cuda_graph_exec *exec)
{
	uint32_t count = graphs ? graphs->graph_count : 0;

	for (uint32_t i = count > MAX_PARTS ? count - MAX_PARTS : 0; i < count; i++) {
		struct graph *graph = &graphs->graphs[i];

		if (graph->id > exec->graph && graph->tid == exec->tid && !graph->around)
			graph->around = exec->graph;
	}
}

void pc_graphs__origin(struct pc_graphs *graphs, uint64_t id, uint32_t place)
{
	struct node *node = graphs ? node_of(graphs, id) : NULL;

	if (!node)
		return;
	node->is_kernel = true;
	node->place = place ? place : node->place;
}

void pc_graphs__launch(struct pc_graphs *graphs, uint32_t id)
{
	struct graph *graph = graphs ? graph_of(graphs, id) : NULL;

	if (graph)
		graph->launches++;
}

static const struct node *first_of(const struct pc_graphs *all, const struct node *node)
{
	for (int i = 0; i < MAX_COPIES && node->original; i++) {
		ssize_t known = key_index__find(&all->nodes_by_id, node->original);

		if (known < 0)
			return NULL;
		node = &all->nodes[known];
	}
	return node->original ? NULL : node;
}

static uint64_t launches_of(const struct pc_graphs *all, const struct node *node)
{
	ssize_t known = node->graph ? key_index__find(&all->graphs_by_id, node->graph) : -1;

	if (known >= 0 && all->graphs[known].around)
		known = key_index__find(&all->graphs_by_id, all->graphs[known].around);
	return known < 0 ? 0 : all->graphs[known].launches;
}

void pc_graphs__sum(const struct pc_graphs *graphs,
		    void (*add)(void *context, uint32_t place, uint64_t launches), void *context,
		    struct pc_graphs_unknown *unknown)
{
	if (!graphs)
		return;
	for (uint32_t i = 0; i < graphs->node_count; i++) {
		uint64_t launches = launches_of(graphs, &graphs->nodes[i]);
		const struct node *first = launches ? first_of(graphs, &graphs->nodes[i]) : NULL;

		if (first && first->place)
			add(context, first->place, launches);
		else if (launches && (!first || first->is_kernel))
			unknown->nodes++;
	}
	for (uint32_t i = 0; i < graphs->graph_count; i++)
		if (!graphs->graphs[i].has_nodes)
			unknown->launches += graphs->graphs[i].launches;
	unknown->left_out += graphs->left_out;
}
