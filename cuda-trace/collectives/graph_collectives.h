/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collectives in CUDA graphs, of one process. A call of NCCL into a capturing stream creates a node
 * instead of a kernel; the graph's instantiation copies the node; each replay runs the copy, and
 * its kernel has the copy's id. So a kernel leads to its node, and that to what the call does. One
 * thread. All of these accept NULL.
 */
#ifndef CUDA_TRACE_COLLECTIVES_GRAPH_COLLECTIVES_H
#define CUDA_TRACE_COLLECTIVES_GRAPH_COLLECTIVES_H

#include "cuda-trace/collectives/nccl_comms.h"
#include "libcupti-usdt/probes.h"

struct graph_collectives;

/* Any may be NULL. Of a large group, which has several kernels, the first one alone is reported. */
struct graph_collectives_options {
	bool gaps; /* kernels are missing on purpose: replays have no numbers */
	/* The calls of this issue were captured as this node: they were not executed. */
	void (*captured)(void *context, uint64_t issue, uint64_t node);
	/* A replay executed them; number: NCCL_COMM_REPLAYED and more, 0 = not known. */
	void (*replayed)(void *context, uint64_t issue, uint64_t number,
			 const struct cuda_kernel *kernel);
	void *context;
};

/* A launch of NCCL's. */
struct graph_collectives_launch {
	uint32_t tid, correlation;
	uint64_t start, end; /* ns */
	uint64_t issue;	     /* see collectives__call() */
	bool again;	     /* the issue has launched a kernel already */
	struct nccl_comm_work work;
};

/* How often the node had been replayed before, of a number that a replay has. */
static inline uint32_t graph_collectives__turn(uint64_t number)
{
	return (uint32_t)number - 1;
}

struct graph_collectives *graph_collectives__new(struct nccl_comms *comms,
						 const struct graph_collectives_options *options);
/* True: it created a node that is known already, and runs nothing by itself. The node may also come
 * after it. */
bool graph_collectives__launch(struct graph_collectives *graphs,
			       const struct graph_collectives_launch *launch);
/* A node is created or copied. Correlation id of the launch that created it, if that came before;
 * 0 = none. */
uint32_t graph_collectives__node(struct graph_collectives *graphs,
				 const struct cuda_graph_node *node);
/* A kernel of NCCL's in a graph. */
void graph_collectives__kernel(struct graph_collectives *graphs, const struct cuda_kernel *kernel);
void graph_collectives__free(struct graph_collectives *graphs);

#endif
