// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. the driver numbers nodes in another way: then the number of the next node that
 * it reports differs, and no body's node gets an origin. 2. graphs without end: the latest
 * BODIES_GRAPHS count, and a body that is not among them makes its executable graph unknown.
 */
#include "libcupti-usdt/base/graph_bodies.h"

#include <stddef.h>

static uint32_t *nodes_of(struct graph_bodies *bodies, uint32_t graph)
{
	uint32_t count = bodies->copied_count, kept = count < BODIES_GRAPHS ? count : BODIES_GRAPHS;

	for (uint32_t i = 1; i <= kept; i++)
		if (bodies->copied[(count - i) % BODIES_GRAPHS].graph == graph)
			return &bodies->copied[(count - i) % BODIES_GRAPHS].nodes;
	return NULL;
}

void graph_bodies__created(struct graph_bodies *bodies, uint64_t id)
{
	uint32_t graph = id >> 32, number = (uint32_t)id, *nodes;

	if (bodies->is_instantiating) {
		if (bodies->ended_count && !bodies->next_graph) {
			bodies->next_graph = graph;
			bodies->next_number = number;
		}
		return;
	}
	nodes = nodes_of(bodies, graph);
	if (!nodes) {
		uint32_t place = bodies->copied_count++ % BODIES_GRAPHS;

		bodies->copied[place].graph = graph;
		nodes = &bodies->copied[place].nodes;
		*nodes = 0;
	}
	if (number >= *nodes)
		*nodes = number + 1;
}

void graph_bodies__begin(struct graph_bodies *bodies)
{
	bodies->is_instantiating = true;
	bodies->ended_count = 0;
	bodies->next_graph = 0;
}

void graph_bodies__graph_ends(struct graph_bodies *bodies, uint32_t graph)
{
	if (!bodies->is_instantiating)
		return;
	if (bodies->ended_count < BODIES_GRAPHS)
		bodies->ended[bodies->ended_count] = graph;
	bodies->ended_count++;
}

/* 0 = a body is not known. */
static uint32_t number_after(struct graph_bodies *bodies, uint32_t exec)
{
	const uint32_t *nodes = nodes_of(bodies, exec);
	uint32_t number = nodes ? *nodes : 0;

	if (!number || bodies->ended_count > BODIES_GRAPHS)
		return 0;
	for (uint32_t i = 0; i < bodies->ended_count; i++) {
		nodes = nodes_of(bodies, bodies->ended[i]);
		if (!nodes)
			return 0;
		number += *nodes;
	}
	return number;
}

void graph_bodies__end(struct graph_bodies *bodies, uint32_t exec,
		       void (*moved)(void *context, uint64_t id, uint64_t before), void *context)
{
	uint64_t number;

	bodies->is_instantiating = false;
	if (!bodies->ended_count || !exec || bodies->next_graph != exec ||
	    bodies->next_number != number_after(bodies, exec))
		return;
	number = *nodes_of(bodies, exec);
	for (uint32_t i = 0; i < bodies->ended_count; i++) {
		uint32_t nodes = *nodes_of(bodies, bodies->ended[i]);

		for (uint32_t node = 0; node < nodes; node++)
			moved(context, (uint64_t)exec << 32 | number++,
			      (uint64_t)bodies->ended[i] << 32 | node);
	}
}
