// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. the driver numbers nodes in another way: then the number of the next node that
 * it reports differs, and no inner node gets an origin. 2. graphs without end: the latest
 * INNER_GRAPHS_MAX count, and one that is not among them makes all inner nodes unknown. 3. an
 * instantiation fails after it has begun: copies are not counted until the thread's next one has
 * ended, whose inner nodes are unknown.
 */
#include "libcupti-usdt/base/inner_graphs.h"

#include <stddef.h>

static uint32_t *nodes_of(struct inner_graphs *graphs, uint32_t graph)
{
	uint32_t count = graphs->copied_count,
		 kept = count < INNER_GRAPHS_MAX ? count : INNER_GRAPHS_MAX;

	for (uint32_t i = 1; i <= kept; i++)
		if (graphs->copied[(count - i) % INNER_GRAPHS_MAX].graph == graph)
			return &graphs->copied[(count - i) % INNER_GRAPHS_MAX].nodes;
	return NULL;
}

void inner_graphs__created(struct inner_graphs *graphs, uint64_t id)
{
	uint32_t graph = id >> 32, number = (uint32_t)id, *nodes;

	if (graphs->is_instantiating) {
		if (graphs->ended_count && !graphs->next_graph) {
			graphs->next_graph = graph;
			graphs->next_number = number;
		}
		return;
	}
	nodes = nodes_of(graphs, graph);
	if (!nodes) {
		uint32_t place = graphs->copied_count++ % INNER_GRAPHS_MAX;

		graphs->copied[place].graph = graph;
		nodes = &graphs->copied[place].nodes;
		*nodes = 0;
	}
	if (number >= *nodes)
		*nodes = number + 1;
}

void inner_graphs__begin(struct inner_graphs *graphs)
{
	graphs->is_instantiating = true;
	graphs->ended_count = 0;
	graphs->next_graph = 0;
}

void inner_graphs__graph_ends(struct inner_graphs *graphs, uint32_t graph)
{
	if (!graphs->is_instantiating)
		return;
	if (graphs->ended_count < INNER_GRAPHS_MAX)
		graphs->ended[graphs->ended_count] = graph;
	graphs->ended_count++;
}

/* 0 = one of them is not known. */
static uint32_t number_after(struct inner_graphs *graphs, uint32_t exec)
{
	const uint32_t *nodes = nodes_of(graphs, exec);
	uint32_t number = nodes ? *nodes : 0;

	if (!number || graphs->ended_count > INNER_GRAPHS_MAX)
		return 0;
	for (uint32_t i = 0; i < graphs->ended_count; i++) {
		nodes = nodes_of(graphs, graphs->ended[i]);
		if (!nodes)
			return 0;
		number += *nodes;
	}
	return number;
}

void inner_graphs__end(struct inner_graphs *graphs, uint32_t exec,
		       void (*moved)(void *context, uint64_t id, uint64_t before), void *context)
{
	uint64_t number;

	graphs->is_instantiating = false;
	if (!graphs->ended_count || !exec || graphs->next_graph != exec ||
	    graphs->next_number != number_after(graphs, exec))
		return;
	number = *nodes_of(graphs, exec);
	for (uint32_t i = 0; i < graphs->ended_count; i++) {
		uint32_t nodes = *nodes_of(graphs, graphs->ended[i]);

		for (uint32_t node = 0; node < nodes; node++)
			moved(context, (uint64_t)exec << 32 | number++,
			      (uint64_t)graphs->ended[i] << 32 | node);
	}
}
