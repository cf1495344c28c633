/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of CUDA graphs of a process, and the call stacks of the calls that created them. Such a
 * call has a stack in any case, taken when it returns: it is the thread's first one after the node
 * was created. One thread.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_GRAPHS_H
#define CUDA_TRACE_PUSH_PUSH_GRAPHS_H

#include <stdint.h>
#include "bpf/event.h"

#define PUSH_GRAPH_NODES (1u << 16) /* of a process; kernels of others have no stack */

struct push_graphs;

/* NULL = no memory; the functions below accept that. */
struct push_graphs *push_graphs__new(void);
void push_graphs__free(struct push_graphs *graphs);
/* A stack came (EVENT_STACK). */
void push_graphs__stack(struct push_graphs *graphs, const struct event *event);
/* A node was created, or copied. */
void push_graphs__node(struct push_graphs *graphs, const struct cuda_graph_node *node);
/* The number of a node, which may be not known yet: its kernels can come before it does. 0 = there
 * are too many. */
uint32_t push_graphs__number(struct push_graphs *graphs, uint64_t node);
/* The number of its stack, 0 = it is not known. stack_of() finds that of a correlation id. */
uint32_t push_graphs__stack_of(struct push_graphs *graphs, uint32_t number,
			       uint32_t (*stack_of)(const void *context, const void *owner,
						    uint32_t correlation),
			       const void *context, const void *owner);
/* An interval ends: `stack_of` will not know its stacks much longer. */
void push_graphs__keep(struct push_graphs *graphs,
		       uint32_t (*stack_of)(const void *context, const void *owner,
					    uint32_t correlation),
		       const void *context, const void *owner);
/* The numbers of stacks begin anew. */
void push_graphs__forget_stacks(struct push_graphs *graphs);

#endif
