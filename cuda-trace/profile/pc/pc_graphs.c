// SPDX-License-Identifier: BSD-2-Clause
/*
 * A launch of an executable graph runs each of its nodes once. Its nodes are copies of those that
 * a call created, or copies of copies. Records come in any order, so they are joined at the end.
 *
 * Nodes of child graphs and of conditional bodies come once more, as nodes of the executable graph.
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
#define MAX_COPIES 64 /* of copies of a node */

/* Nodes and graphs have numbers from 1 on; 0 = none, or not known. */
struct node {
	uint32_t original; /* the node that it is a copy of */
	uint32_t graph;
	uint32_t place;
	bool is_kernel;
};

struct graph {
	uint64_t launches;
	uint32_t id;
	bool is_known; /* somebody saw how it was created */
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

static uint32_t number_of(struct key_index *index, uint64_t id)
{
	ssize_t known = key_index__find(index, id);

	return known < 0 ? 0 : known + 1;
}

static uint32_t node_of(struct pc_graphs *all, uint64_t id)
{
	uint32_t number = number_of(&all->nodes_by_id, id);

	if (number)
		return number;
	if (all->node_count == MAX_NODES ||
	    !array_grow__zeroed(all->nodes, all->node_capacity, (size_t)all->node_count + 1) ||
	    !key_index__add(&all->nodes_by_id, id, all->node_count)) {
		all->left_out++;
		return 0;
	}
	return ++all->node_count;
}

static uint32_t graph_of(struct pc_graphs *all, uint32_t id)
{
	uint32_t number = number_of(&all->graphs_by_id, id);

	if (number)
		return number;
	if (all->graph_count == MAX_GRAPHS ||
	    !array_grow__zeroed(all->graphs, all->graph_capacity, (size_t)all->graph_count + 1) ||
	    !key_index__add(&all->graphs_by_id, id, all->graph_count)) {
		all->left_out++;
		return 0;
	}
	all->graphs[all->graph_count].id = id;
	return ++all->graph_count;
}

/* A copy comes once as created and once with its original, which may come later itself. */
void pc_graphs__node(struct pc_graphs *graphs, const struct cuda_graph_node *record)
{
	uint32_t number = graphs ? node_of(graphs, record->node) : 0;
	uint32_t original = number && record->original ? node_of(graphs, record->original) : 0;
	uint32_t in = number && record->graph ? graph_of(graphs, record->graph) : 0;

	if (!number)
		return;
	if (original)
		graphs->nodes[number - 1].original = original;
	graphs->nodes[number - 1].graph = in;
	if (in)
		graphs->graphs[in - 1].is_known = true;
}

void pc_graphs__origin(struct pc_graphs *graphs, uint64_t id, uint32_t place)
{
	uint32_t number = graphs ? node_of(graphs, id) : 0;

	if (!number)
		return;
	graphs->nodes[number - 1].is_kernel = true;
	if (place)
		graphs->nodes[number - 1].place = place;
}

void pc_graphs__launch(struct pc_graphs *graphs, uint32_t id)
{
	uint32_t number = graphs ? graph_of(graphs, id) : 0;

	if (number)
		graphs->graphs[number - 1].launches++;
}

/* NULL = originals in a circle. */
static const struct node *first_of(const struct pc_graphs *all, const struct node *node)
{
	for (int i = 0; i < MAX_COPIES && node->original; i++)
		node = &all->nodes[node->original - 1];
	return node->original ? NULL : node;
}

static uint64_t launches_of(const struct pc_graphs *all, const struct node *node)
{
	const struct graph *graph = node->graph ? &all->graphs[node->graph - 1] : NULL;

	return graph ? graph->launches : 0;
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
		else if (launches && (!first || first->is_kernel || !first->graph))
			unknown->nodes++;
	}
	for (uint32_t i = 0; i < graphs->graph_count; i++)
		if (!graphs->graphs[i].is_known)
			unknown->launches += graphs->graphs[i].launches;
	unknown->left_out += graphs->left_out;
}
