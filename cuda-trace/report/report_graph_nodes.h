/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of graphs that a recording has: which call created them, and what they are copies of.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_GRAPH_NODES_H
#define CUDA_TRACE_REPORT_REPORT_GRAPH_NODES_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/report/report_file.h"

#define GRAPH_NODES_MAX	   (2u << 20) /* rows of a table; what a file has beyond these is left out */
#define GRAPH_NODES_COPIES 64	      /* of copies of a node */
#define GRAPH_NODES_BARE   INT64_MIN

struct graph_node {
	int64_t id, original; /* 0 = it is no copy */
	int64_t thread;	      /* globalTid; also says the process */
	int64_t time;
	int64_t chain; /* GRAPH_NODES_BARE: its creation has no call stack */
};

struct graph_nodes {
	struct graph_node *list; /* by process and id */
	size_t count;
	uint64_t left_out;
	uint32_t *created; /* numbers of those that are no copies, by thread and time */
	uint32_t *next;	   /* by place in `created`: a later or the same one without a stack */
	size_t created_count;
};

/* As in globalPid / 0x1000000. */
static inline int64_t graph_node__process(const struct graph_node *node)
{
	return node->thread / 0x1000000;
}

/* Adds one. 0 or -ENOMEM; what is too many is counted. */
int graph_nodes__add(struct graph_nodes *nodes, const struct graph_node *node);
/* Adds what the file has. 0 or -errno, printed. */
int graph_nodes__read(struct graph_nodes *nodes, const struct report_file *file);
/* After the last one: makes them searchable, and finds the call stacks. Likewise. */
int graph_nodes__finish(struct graph_nodes *nodes, const struct report_file *file);
/* The place in the list of the process's first node with this id or a larger one. */
size_t graph_nodes__first(const struct graph_nodes *nodes, int64_t process, int64_t id);
/* NULL = there is none. */
const struct graph_node *graph_nodes__find(const struct graph_nodes *nodes, int64_t process,
					   int64_t id);
/* The node that it is a copy of, of a copy, and so on; NULL = that was not recorded. */
const struct graph_node *graph_nodes__origin(const struct graph_nodes *nodes,
					     const struct graph_node *node);
void graph_nodes__free(struct graph_nodes *nodes);

#endif
