/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of graphs as they are created: CUPTI calls back inside of the call that creates them.
 */
#ifndef LIBCUPTI_USDT_TRACE_GRAPH_NODES_H
#define LIBCUPTI_USDT_TRACE_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/probe_sites.h"

struct ring;

/* Is it a callback about nodes, or an executable graph? */
bool graph_nodes__is_one(uint32_t cbid);
/* On the thread that creates it. */
void graph_nodes__record(uint32_t cbid, const struct cupti_resource_data *data);
/* Does somebody need origins and the ids of executable graphs? Samples say nothing of nodes. */
static inline bool graph_nodes__for_samples(void)
{
	return probe_sites__batch_wanted(CUDA_GROUP_GRAPH_NODES) &&
	       probe_sites__batch_wanted(CUDA_GROUP_PC_SAMPLES);
}
/* A call that created the node has returned, or changed one (0); `name`: its kernel's, 0 = it has
 * none. */
void graph_nodes__origin(struct ring *ring, uint32_t correlation, uint64_t node, uint32_t name,
			 uint64_t start, uint64_t end);
/* The id of a CUgraphExec, as its nodes have it; 0 = unknown. */
uint32_t graph_nodes__exec_id(void *exec);
/* Likewise of a CUgraph, and of a CUgraphNode. */
uint32_t graph_nodes__graph_id(void *graph);
uint64_t graph_nodes__id(void *node);
/* Switches the callbacks, and nothing if they are as wanted. */
void graph_nodes__switch(void *subscriber, bool on);
/* CUPTI has forgotten its callbacks. */
void graph_nodes__forget(void);

#endif
