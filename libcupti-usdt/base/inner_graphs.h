/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of child graphs and of conditional bodies in an executable graph. What the driver (580, on
 * an H200) was seen to do, in this order: instantiating copies inner graphs as graphs of their own,
 * whose nodes CUPTI reports; then these graphs end, and their nodes become nodes of the executable
 * graph, with its next numbers, which no callback says; then the driver adds nodes of its own,
 * which are reported.
 */
#ifndef LIBCUPTI_USDT_BASE_INNER_GRAPHS_H
#define LIBCUPTI_USDT_BASE_INNER_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#define INNER_GRAPHS_MAX 64 /* of one instantiation; with more, their kernels have no origin */

/* Of a thread. */
struct inner_graphs {
	struct {
		uint32_t graph, nodes;
	} copied[INNER_GRAPHS_MAX]; /* the latest, in a circle */
	uint32_t copied_count;
	uint32_t ended[INNER_GRAPHS_MAX], ended_count;
	uint32_t next_graph, next_number; /* of the first node that was reported after these */
	bool is_instantiating;
};

/* A node was created; `id` is CUPTI's: the graph's in the upper half, a number in the lower. */
void inner_graphs__created(struct inner_graphs *graphs, uint64_t id);
/* An executable graph is about to be created: all copies are made. */
void inner_graphs__begin(struct inner_graphs *graphs);
void inner_graphs__graph_ends(struct inner_graphs *graphs, uint32_t graph);
/*
 * The executable graph is there. Calls back with the id that each inner node has now, and the
 * one that it was reported with: only if the node that was reported next has the number that is
 * due then.
 */
void inner_graphs__end(struct inner_graphs *graphs, uint32_t exec,
		       void (*moved)(void *context, uint64_t id, uint64_t before), void *context);

#endif
