// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes come in batches, some 100 ms after the stacks of the calls that created them: the last of
 * these stacks are kept with the times of their calls.
 */
#include "cuda-trace/push/push_graphs.h"
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"

#define MAX_RECENT 16384
#define MAX_COPIES 64 /* of copies of a node */

struct recent_stack {
	uint64_t start, end; /* ns, of the call */
	uint32_t tid, correlation;
};

struct graph_node {
	uint64_t original;    /* 0 = it is no copy */
	uint32_t correlation; /* of the call that created it; 0 = not known */
	uint32_t stack;	      /* 0 = not known yet */
};

struct push_graphs {
	struct recent_stack *recent; /* the oldest first */
	uint32_t recent_count, recent_capacity;
	struct graph_node *nodes;
	uint32_t count, capacity;
	struct key_index index;
};

struct push_graphs *push_graphs__new(void)
{
	return calloc(1, sizeof(struct push_graphs));
}

void push_graphs__free(struct push_graphs *graphs)
{
	if (!graphs)
		return;
	free(graphs->recent);
	free(graphs->nodes);
	key_index__free(&graphs->index);
	free(graphs);
}

void push_graphs__stack(struct push_graphs *graphs, const struct event *event)
{
	const struct event_stack *stack = (const void *)event->data;

	if (!graphs || event->kind != EVENT_STACK || !stack->start)
		return;
	if (graphs->recent_count == MAX_RECENT) {
		graphs->recent_count /= 2;
		memmove(graphs->recent, graphs->recent + graphs->recent_count,
			graphs->recent_count * sizeof(*graphs->recent));
	}
	if (array_grow__for_one(graphs->recent, graphs->recent_capacity, graphs->recent_count))
		graphs->recent[graphs->recent_count++] = (struct recent_stack){
			stack->start, stack->end, stack->tid, stack->correlation};
}

/* 0 = there is none. */
static uint32_t find_call(const struct push_graphs *graphs, uint32_t tid, uint64_t time)
{
	for (uint32_t i = graphs->recent_count; i; i--) {
		const struct recent_stack *stack = &graphs->recent[i - 1];

		if (stack->tid == tid && stack->start <= time && time <= stack->end)
			return stack->correlation;
	}
	return 0;
}

uint32_t push_graphs__number(struct push_graphs *graphs, uint64_t id)
{
	ssize_t known = graphs ? key_index__find(&graphs->index, id) : -1;

	if (known >= 0)
		return known + 1;
	if (!graphs || graphs->count == PUSH_GRAPH_NODES ||
	    !array_grow__zeroed(graphs->nodes, graphs->capacity, graphs->count + 1) ||
	    !key_index__add(&graphs->index, id, graphs->count))
		return 0;
	return ++graphs->count;
}

void push_graphs__node(struct push_graphs *graphs, const struct cuda_graph_node *node)
{
	uint32_t number = push_graphs__number(graphs, node->node);
	struct graph_node *own;

	if (!number)
		return;
	own = &graphs->nodes[number - 1];
	/* A copy comes once as created and once with its original. */
	if (node->original)
		own->original = node->original;
	else if (!own->stack)
		own->correlation = find_call(graphs, node->tid, node->start);
}

static struct graph_node *original_of(const struct push_graphs *graphs, uint32_t number)
{
	struct graph_node *node = &graphs->nodes[number - 1];

	for (int i = 0; i < MAX_COPIES && node->original; i++) {
		ssize_t known = key_index__find(&graphs->index, node->original);

		if (known < 0)
			return NULL;
		node = &graphs->nodes[known];
	}
	return node->original ? NULL : node;
}

uint32_t push_graphs__stack_of(struct push_graphs *graphs, uint32_t number,
			       uint32_t (*stack_of)(const void *context, const void *owner,
						    uint32_t correlation),
			       const void *context, const void *owner)
{
	struct graph_node *node = graphs && number ? original_of(graphs, number) : NULL;

	if (!node)
		return 0;
	if (!node->stack && node->correlation)
		node->stack = stack_of(context, owner, node->correlation);
	return node->stack;
}

void push_graphs__keep(struct push_graphs *graphs,
		       uint32_t (*stack_of)(const void *context, const void *owner,
					    uint32_t correlation),
		       const void *context, const void *owner)
{
	for (uint32_t i = 0; graphs && i < graphs->count; i++) {
		struct graph_node *node = &graphs->nodes[i];

		if (!node->stack && node->correlation)
			node->stack = stack_of(context, owner, node->correlation);
	}
}

void push_graphs__forget_stacks(struct push_graphs *graphs)
{
	for (uint32_t i = 0; graphs && i < graphs->count; i++)
		graphs->nodes[i].stack = graphs->nodes[i].correlation = 0;
}
