// SPDX-License-Identifier: BSD-2-Clause
/*
 * A launch of an executable graph runs each of its nodes once. Its nodes are copies of those that
 * a call created, or copies of copies. Records come in any order, so they are joined at the end.
 * A call that gave a node another kernel is a node, too: pc_graphs__node_of().
 *
 * Nodes of child graphs and of conditional bodies come once more, as nodes of the executable graph.
 *
 * A graph that was changed does something else in later launches, which have times for that.
 *
 * Failure modes: 1. the wrong place: ids are CUPTI's, which it does not give twice in a process;
 * originals in a circle end after MAX_COPIES. 2. a graph looks complete and is not: what has no
 * place is counted. 3. graphs without end: MAX_NODES and MAX_GRAPHS are kept;
 * launches after the first MAX_LAUNCHES count as later than every change.
 */
#include "cuda-trace/profile/pc/pc_graphs.h"
#include <stdbool.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/base/sorted.h"

#define MAX_NODES    (1u << 18)
#define MAX_GRAPHS   (1u << 16)
#define MAX_COPIES   64 /* of copies of a node */

#define MAX_CHANGES  (1u << 16)
#define MAX_LAUNCHES (1u << 20)
#define MAX_STEPS    (1u << 26) /* changes that are looked at; what nodes did after is not known */

/* Nodes and graphs have numbers from 1 on; 0 = none, or not known. */
struct node {
	uint64_t id;
	uint64_t time;	   /* of its creation, or of the copy */
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

/* What is launched from `time` on does it; without a graph, what is copied from then on. */
struct change {
	uint32_t graph;	 /* that can be launched; 0 = none */
	uint32_t with;	 /* id of the graph; 0 = the node has the kernel that a call gave it */
	uint64_t node;	 /* id, of the graph that was instantiated; 0 = all nodes */
	uint64_t kernel; /* id of the node that stands for the call */
	uint64_t time;
};

struct launch {
	uint32_t graph;
	uint64_t time;
};

struct pc_graphs {
	struct node *nodes;
	uint32_t node_count, node_capacity;
	struct key_index nodes_by_id;
	struct graph *graphs;
	uint32_t graph_count, graph_capacity;
	struct key_index graphs_by_id;
	struct change *changes; /* by graph and time, once they are complete; so are launches.
				 * Without a graph: by node and time */
	size_t change_count;
	struct launch *launches; /* the first MAX_LAUNCHES */
	size_t launch_count;
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
	free(graphs->changes);
	free(graphs->launches);
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
	all->nodes[all->node_count].id = id;
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
	graphs->nodes[number - 1].time = record->start;
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

void pc_graphs__launch(struct pc_graphs *graphs, uint32_t id, uint64_t time)
{
	uint32_t number = graphs ? graph_of(graphs, id) : 0;

	if (!number)
		return;
	graphs->graphs[number - 1].launches++;
	if (graphs->launch_count < MAX_LAUNCHES &&
	    array_grow__counted(graphs->launches, graphs->launch_count))
		graphs->launches[graphs->launch_count++] = (struct launch){number, time};
}

/* Ids of real nodes have their graph's in the upper half. */
uint64_t pc_graphs__node_of(const struct cuda_graph_origin *origin)
{
	return origin->node ? origin->node : origin->head.correlation;
}

void pc_graphs__change(struct pc_graphs *graphs, const struct cuda_graph_change *record)
{
	struct change change = {
		.with = record->graph,
		.node = record->node,
		.kernel = record->head.correlation,
		.time = record->end,
	};

	if (!graphs)
		return;
	change.graph = record->exec ? graph_of(graphs, record->exec) : 0;
	if ((record->exec && !change.graph) || graphs->change_count == MAX_CHANGES ||
	    !array_grow__counted(graphs->changes, graphs->change_count))
		graphs->left_out++;
	else
		graphs->changes[graphs->change_count++] = change;
}

static int by_graph_and_time(uint32_t a, uint32_t b, uint64_t x, uint64_t y)
{
	if (a != b)
		return a < b ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (!x->graph && !y->graph && x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return by_graph_and_time(x->graph, y->graph, x->time, y->time);
}

static int compare_launches(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;

	return by_graph_and_time(x->graph, y->graph, x->time, y->time);
}

static const struct node *find(const struct pc_graphs *all, uint64_t id)
{
	ssize_t known = key_index__find(&all->nodes_by_id, id);

	return known < 0 ? NULL : &all->nodes[known];
}

/* The latest change of a node of no executable graph, at that time; NULL = none. */
static const struct change *latest(const struct pc_graphs *all, uint64_t node, uint64_t time)
{
	const struct change wanted = {.node = node, .time = time};
	size_t after = sorted__count_before(all->change_count, i,
					    compare_changes(&all->changes[i], &wanted) <= 0);
	const struct change *found = after ? &all->changes[after - 1] : NULL;

	return found && !found->graph && found->node == node ? found : NULL;
}

/* What the node does at that time; NULL = not known: originals in a circle. */
static const struct node *first_of(const struct pc_graphs *all, const struct node *node,
				   uint64_t time)
{
	for (int i = 0; i < MAX_COPIES; i++) {
		const struct change *change = latest(all, node->id, time);

		if (change)
			return find(all, change->kernel);
		if (!node->original)
			return node;
		time = node->time;
		node = &all->nodes[node->original - 1];
	}
	return NULL;
}

static uint64_t original_id(const struct pc_graphs *all, const struct node *node)
{
	return node && node->original ? all->nodes[node->original - 1].id : 0;
}

/* The node whose work `node` does since it was updated with that graph: the one with the number of
 * its original, if that is of the graph that was instantiated, and of none in it. */
static const struct node *counterpart(const struct pc_graphs *all, const struct node *node,
				      uint32_t with)
{
	uint64_t id = original_id(all, node);
	uint64_t whole = original_id(all, find(all, node->id >> 32 << 32));

	return id && id >> 32 == whole >> 32 ? find(all, (uint64_t)with << 32 | (uint32_t)id)
					     : NULL;
}

struct sum {
	const struct pc_graphs *all;
	void (*add)(void *context, uint32_t place, uint64_t launches);
	void *context;
	struct pc_graphs_unknown *unknown;
	uint32_t steps;
};

static bool may_look(struct sum *sum)
{
	return sum->steps < MAX_STEPS && ++sum->steps;
}

/* What the node does after `count` changes of its graph. */
static const struct node *doing(struct sum *sum, const struct node *node,
				const struct change *changes, size_t count)
{
	const struct pc_graphs *all = sum->all;
	uint64_t id = original_id(all, node);

	while (count && changes[count - 1].node && changes[count - 1].node != id && may_look(sum))
		count--;
	if (!may_look(sum))
		return NULL;
	if (!count || (changes[count - 1].node && changes[count - 1].with))
		return first_of(all, node, UINT64_MAX);
	if (!changes[count - 1].with)
		return find(all, changes[count - 1].kernel);
	node = counterpart(all, node, changes[count - 1].with);
	return node ? first_of(all, node, changes[count - 1].time) : NULL;
}

/* False: it is not known what the node did. */
static bool add_node(const struct sum *sum, const struct node *first, uint64_t launches)
{
	if (first && first->place)
		sum->add(sum->context, first->place, launches);
	return !launches || (first && (first->place || (!first->is_kernel && first->graph)));
}

static size_t launches_before(const struct pc_graphs *all, uint32_t graph, uint64_t time)
{
	const struct launch wanted = {graph, time};

	return sorted__count_before(all->launch_count, i,
				    compare_launches(&all->launches[i], &wanted) < 0);
}

static void sum_node(struct sum *sum, const struct node *node)
{
	const struct pc_graphs *all = sum->all;
	uint64_t left = node->graph ? all->graphs[node->graph - 1].launches : 0;
	const struct change wanted = {.graph = node->graph};
	size_t first = sorted__count_before(all->change_count, i,
					    compare_changes(&all->changes[i], &wanted) < 0);
	size_t before = launches_before(all, node->graph, 0), count = 0;
	bool known = true;

	if (!left)
		return;
	for (; first + count < all->change_count &&
	       all->changes[first + count].graph == node->graph && sum->steps < MAX_STEPS;
	     count++) {
		size_t until = launches_before(all, node->graph, all->changes[first + count].time);

		known &= add_node(sum, doing(sum, node, &all->changes[first], count),
				  until - before);
		left -= until - before;
		before = until;
	}
	known &= add_node(sum, doing(sum, node, &all->changes[first], count), left);
	sum->unknown->nodes += !known;
}

void pc_graphs__sum(struct pc_graphs *graphs,
		    void (*add)(void *context, uint32_t place, uint64_t launches), void *context,
		    struct pc_graphs_unknown *unknown)
{
	struct sum sum = {graphs, add, context, unknown, 0};

	if (!graphs)
		return;
	if (graphs->change_count)
		qsort(graphs->changes, graphs->change_count, sizeof(*graphs->changes),
		      compare_changes);
	if (graphs->change_count && graphs->launch_count)
		qsort(graphs->launches, graphs->launch_count, sizeof(*graphs->launches),
		      compare_launches);
	for (uint32_t i = 0; i < graphs->node_count; i++)
		sum_node(&sum, &graphs->nodes[i]);
	for (uint32_t i = 0; i < graphs->graph_count; i++)
		if (!graphs->graphs[i].is_known)
			unknown->launches += graphs->graphs[i].launches;
	unknown->left_out += graphs->left_out;
}
