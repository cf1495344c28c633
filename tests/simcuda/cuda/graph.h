/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs and their nodes, for the files that create, change and launch them. */
#ifndef TESTS_SIMCUDA_CUDA_GRAPH_H
#define TESTS_SIMCUDA_CUDA_GRAPH_H

#include <stdint.h>
#include "tests/simcuda/cuda/driver.h"

/* Whether a conditional node runs its body, or how often. No kernel of the simulation can set it:
 * it is what it was created with. */
struct condition {
	bool is_loop;
	unsigned int value;
};

struct CUgraphNode_st {
	uint32_t magic;
	uint64_t id;
	uint32_t kind;	  /* KIND_KERNEL, KIND_MEMCPY, KIND_MEMCPY_PEER, KIND_MEMSET, 0: empty */
	CUgraph inner[2]; /* of a child graph's node, its copy; of a conditional one: if and else */
	CUgraphNode own[2]; /* in an executable graph: their nodes, which are its own then */
	struct condition *condition;
	struct launch launch;
	uint64_t values[4]; /* copies of the kernel's parameters */
	void *parameters[4];
	struct simcuda_record record;
	void *target;
	const void *source;
	size_t element;
	struct CUgraphNode_st *next;
};

struct CUgraph_st {
	uint32_t magic;
	uint32_t id;
	uint32_t nodes;
	struct CUgraphNode_st *first, **last;
};

struct CUgraphExec_st {
	uint32_t magic;
	CUgraph graph; /* its own copy */
	bool traced;   /* it was made while graphs were traced as wholes */
};

struct graph_data { /* CUpti_GraphData */
	CUgraph graph, original_graph;
	CUgraphNode node, original_node;
	int node_type;
	CUgraphNode dependency;
	CUgraphExec exec;
};

bool graph__valid(CUgraph graph);
void graph__tell(uint32_t cbid, struct graph_data data);
/* A new node at its end. */
CUgraphNode graph__append(CUgraph graph);
/* The program may change its parameters' memory after this call: copies what is known of them. */
void node__keep_parameters(CUgraphNode node);
/* Makes a launch of a node's parameters, and checks it. */
CUresult graph__launch_of(const CUDA_KERNEL_NODE_PARAMS *p, struct launch *launch);
/* The executable graph takes the nodes of all inner graphs for its own, as the driver does. */
void graph__adopt_inner(CUgraph exec);

#endif
