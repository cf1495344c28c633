/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels in the CUDA graphs of one process: how often each place in the code that put a kernel
 * into a graph had it run. A place is the caller's number of a kernel and a call stack. One thread.
 */
#ifndef CUDA_TRACE_PROFILE_PC_PC_GRAPHS_H
#define CUDA_TRACE_PROFILE_PC_PC_GRAPHS_H

#include <stdint.h>
#include "libcupti-usdt/probes.h"

struct pc_graphs;

/* What is not known. */
struct pc_graphs_unknown {
	uint64_t launches; /* of graphs that were created before anybody watched */
	uint64_t nodes;	   /* of launched graphs, whose call is not known; may be copies, too */
	uint64_t left_out; /* records of nodes and graphs beyond what is kept */
};

/* NULL = no memory; the functions below accept that. */
struct pc_graphs *pc_graphs__new(void);
void pc_graphs__free(struct pc_graphs *graphs);
/* A node was created, or copied. */
void pc_graphs__node(struct pc_graphs *graphs, const struct cuda_graph_node *node);
/* The call that created the node, or that it stands for, put its kernel there from `place`; 0 = not
 * known yet. */
void pc_graphs__origin(struct pc_graphs *graphs, uint64_t node, uint32_t place);
/* An executable graph was launched, at this time (ns). */
void pc_graphs__launch(struct pc_graphs *graphs, uint32_t graph, uint64_t time);
/* The node whose kernel it is: one that stands for the call, if that changed a node. */
uint64_t pc_graphs__node_of(const struct cuda_graph_origin *origin);
/* Nodes do something else from then on. */
void pc_graphs__change(struct pc_graphs *graphs, const struct cuda_graph_change *change);
/* After all records: calls `add` for each node of a graph that was launched, and each time that it
 * did something else; adds to `unknown`. */
void pc_graphs__sum(struct pc_graphs *graphs,
		    void (*add)(void *context, uint32_t place, uint64_t launches), void *context,
		    struct pc_graphs_unknown *unknown);

#endif
