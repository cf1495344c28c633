/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of conditional bodies in an executable graph. What CUPTI (13.0, on an H200) was seen to
 * do, in this order: instantiating copies the bodies as graphs of their own and reports their
 * nodes; then these graphs end, and their nodes become nodes of the executable graph, with its next
 * numbers, which no callback says; then the driver adds nodes of its own, which are reported.
 */
#ifndef LIBCUPTI_USDT_BASE_GRAPH_BODIES_H
#define LIBCUPTI_USDT_BASE_GRAPH_BODIES_H

#include <stdbool.h>
#include <stdint.h>

#define BODIES_GRAPHS 64 /* of one instantiation; the kernels of others have no origin */

/* Of a thread. */
struct graph_bodies {
	struct {
		uint32_t graph, nodes;
	} copied[BODIES_GRAPHS]; /* the latest, in a circle */
	uint32_t copied_count;
	uint32_t ended[BODIES_GRAPHS], ended_count;
	uint32_t next_graph, next_number; /* of the first node that was reported after these */
	bool is_instantiating;
};

/* A node was created; `id` is CUPTI's: the graph's in the upper half, a number in the lower. */
void graph_bodies__created(struct graph_bodies *bodies, uint64_t id);
/* An executable graph is about to be created: all copies are made. */
void graph_bodies__begin(struct graph_bodies *bodies);
void graph_bodies__graph_ends(struct graph_bodies *bodies, uint32_t graph);
/*
 * The executable graph is there. Calls back with the id that each node of a body has now, and the
 * one that it was reported with: only if the node that was reported next has the number that is
 * due then.
 */
void graph_bodies__end(struct graph_bodies *bodies, uint32_t exec,
		       void (*moved)(void *context, uint64_t id, uint64_t before), void *context);

#endif
