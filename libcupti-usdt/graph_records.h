/* SPDX-License-Identifier: BSD-2-Clause */
/* CUDA graphs, their nodes and launches: part of probes.h, which includes it. */
#ifndef LIBCUPTI_USDT_GRAPH_RECORDS_H
#define LIBCUPTI_USDT_GRAPH_RECORDS_H

#include "probes.h"

/* One graph launch as a whole, as the GPU stamped it. */
struct cuda_graph {
	struct cuda_record head;
	__u64 start; /* ns */
	__u64 end;   /* ns */
	__u32 device;
	__u32 context;
	__u32 stream;		       /* stream id */
	__u32 graph;		       /* id of the executable graph */
	__u32 end_device, end_context; /* where its last node ran */
};

/*
 * One node of a graph as it was created, or as instantiating copied it, inside of the call that did
 * it: by that thread, at a time between the call's start and end. head.correlation is 0. A copy
 * comes once as created and once with its original; a node of a child graph or of a conditional
 * body comes once more, as it is in the executable graph, as a copy that nothing created.
 */
struct cuda_graph_node {
	struct cuda_record head;
	__u64 start;	/* ns */
	__u64 end;	/* ns, the same */
	__u64 node;	/* as in struct cuda_kernel, cuda_memcpy, cuda_memset */
	__u64 original; /* the node that it is a copy of, 0 = it was created */
	__u32 graph;	/* id of the graph that it belongs to, 0 = unknown */
	__u32 tid;	/* as the process's own pid namespace numbers it */
};

/* The kernel of a node, and the call that put it there: a launch into a capture, cuGraphAdd..., or
 * the call of a struct cuda_graph_change. */
struct cuda_graph_origin {
	struct cuda_record head; /* correlation: of that call */
	__u64 start;		 /* ns, of the call */
	__u64 end;		 /* ns */
	__u64 node;		 /* as in struct cuda_graph_node; 0 = that of the change */
	__u32 name;		 /* id of a cuda:name */
	__u32 tid;		 /* as the process's own pid namespace numbers it */
};

/*
 * A call changed what nodes do; they keep their ids. What is launched after the call does it.
 *   exec, graph:       each node of exec does what the node in its place of graph does (an update)
 *   exec, node:        the copy of node in exec has another kernel, by this call
 *   exec, node, graph: the copy of node in exec has node's own kernel again; graph is node's
 *   node:              node, which is of no executable graph, has another kernel, by this call
 */
struct cuda_graph_change {
	struct cuda_record head; /* correlation: of the call */
	__u64 start;		 /* ns, of the call */
	__u64 end;		 /* ns */
	__u64 node;		 /* as in struct cuda_graph_node; 0 = all of them */
	__u32 exec;		 /* id of the executable graph; 0 = of none */
	__u32 graph;		 /* id; 0 = the kernel is what the call says */
	__u32 tid;		 /* as the process's own pid namespace numbers it */
	__u32 pad;
};

#endif
