// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes and launches in two arrays of fixed size. The tool's one thread.
 *
 * A range has its name when it ends, its kernels may end later still. So a node begins without a
 * name, and once it has one it becomes one with the node of that name in the same place, if there
 * is one; what waits for its kernels goes with it.
 *
 * What can go wrong: 1. memory grows with the run: nodes are as many as different paths, and ranges
 * that are open; launches wait at most as long as it takes for MAX_WAITING others to come, and what
 * comes for one after that is counted as lost. 2. a node becomes another's while somebody still
 * points to it: only what has a name does, which nobody holds but its parent. 3. a program names
 * ranges by a counter: children are looked through one by one, but no more than there are names. 4.
 * thousands of processes, each with a tree: of its arrays nothing is touched that is not needed.
 */
#include "cuda-trace/stat/stat_range_tree.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NODES   8192
#define MAX_WAITING 32768 /* power of 2 */
#define NONE	    UINT32_MAX

struct slot {
	uint32_t correlation;
	uint32_t chain;		 /* the number of the next one of this hash, from 1 on; 0 = none */
	uint32_t previous, next; /* of the same node */
	struct range_node *node; /* NULL: its launch has not come */
	uint64_t gpu_ns;	 /* until then, as the next */
	uint32_t kernels;
	bool used, graph;
};

struct range_tree {
	struct range_node root;
	struct range_node *lost;
	struct range_node *unused; /* they were used, as those before `fresh` */
	uint32_t fresh;
	uint32_t cursor, taken;	     /* of slots: the next one, and how many were ever used */
	uint32_t heads[MAX_WAITING]; /* as `chain` */
	struct slot slots[MAX_WAITING];
	struct range_node nodes[MAX_NODES];
};

struct range_tree *range_tree__new(uint32_t lost)
{
	struct range_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->root.slots = NONE;
	tree->lost = range_tree__named(tree, lost);
	return tree;
}

void range_tree__free(struct range_tree *tree)
{
	free(tree);
}

struct range_node *range_tree__root(struct range_tree *tree)
{
	return &tree->root;
}

static void put_below(struct range_node *node, struct range_node *parent)
{
	node->parent = parent;
	node->previous = NULL;
	node->next = parent->children;
	if (node->next)
		node->next->previous = node;
	parent->children = node;
}

static void unlink_node(struct range_node *node)
{
	if (node->previous)
		node->previous->next = node->next;
	else
		node->parent->children = node->next;
	if (node->next)
		node->next->previous = node->previous;
}

struct range_node *range_tree__open(struct range_tree *tree, struct range_node *parent,
				    uint64_t first)
{
	struct range_node *node = tree->unused;

	if (node)
		tree->unused = node->next;
	else if (tree->fresh < MAX_NODES)
		node = &tree->nodes[tree->fresh++];
	else
		return NULL;
	*node = (struct range_node){.first = first, .line = RANGE_OPEN, .slots = NONE};
	put_below(node, parent);
	return node;
}

static struct range_node *child_of(const struct range_node *parent, uint32_t line)
{
	struct range_node *child = parent->children;

	while (child && child->line != line)
		child = child->next;
	return child;
}

struct range_node *range_tree__named(struct range_tree *tree, uint32_t line)
{
	struct range_node *node = child_of(&tree->root, line);

	if (!node)
		node = range_tree__open(tree, &tree->root, 0);
	if (node)
		node->line = line;
	return node;
}

static void put_slot(struct range_tree *tree, uint32_t index, struct range_node *node)
{
	struct slot *slot = &tree->slots[index];

	slot->node = node;
	slot->previous = NONE;
	slot->next = node->slots;
	if (slot->next != NONE)
		tree->slots[slot->next].previous = index;
	node->slots = index;
}

static void unlink_slot(struct range_tree *tree, uint32_t index)
{
	struct slot *slot = &tree->slots[index];

	if (slot->previous != NONE)
		tree->slots[slot->previous].next = slot->next;
	else
		slot->node->slots = slot->next;
	if (slot->next != NONE)
		tree->slots[slot->next].previous = slot->previous;
}

/* `from` is gone afterwards. As deep as ranges are in each other, which is bounded. */
static void become_one(struct range_tree *tree, struct range_node *to, struct range_node *from)
{
	struct range_node *child;
	uint32_t index;

	to->self.launches += from->self.launches;
	to->self.kernels += from->self.kernels;
	to->self.gpu_ns += from->self.gpu_ns;
	while ((index = from->slots) != NONE) {
		unlink_slot(tree, index);
		put_slot(tree, index, to);
	}
	while ((child = from->children)) {
		struct range_node *twin =
			child->line == RANGE_OPEN ? NULL : child_of(to, child->line);

		if (twin) {
			become_one(tree, twin, child);
		} else {
			unlink_node(child);
			put_below(child, to);
		}
	}
	unlink_node(from);
	from->next = tree->unused;
	tree->unused = from;
}

void range_tree__name(struct range_tree *tree, struct range_node *node, uint32_t line)
{
	while (node) {
		struct range_node *earlier = node->earlier, *twin = child_of(node->parent, line);

		node->earlier = NULL;
		node->line = line;
		if (twin)
			become_one(tree, twin, node);
		node = earlier;
	}
}

static uint32_t *head_of(struct range_tree *tree, uint32_t correlation)
{
	return &tree->heads[correlation & (MAX_WAITING - 1)];
}

static uint32_t find(struct range_tree *tree, uint32_t correlation)
{
	uint32_t number = *head_of(tree, correlation);

	while (number && tree->slots[number - 1].correlation != correlation)
		number = tree->slots[number - 1].chain;
	return number ? number - 1 : NONE;
}

static void release(struct range_tree *tree, uint32_t index)
{
	struct slot *slot = &tree->slots[index];
	uint32_t *link = head_of(tree, slot->correlation);

	if (slot->node) {
		unlink_slot(tree, index);
	} else {
		tree->lost->self.kernels += slot->kernels;
		tree->lost->self.gpu_ns += slot->gpu_ns;
	}
	while (*link != index + 1)
		link = &tree->slots[*link - 1].chain;
	*link = slot->chain;
	slot->used = false;
}

/* The oldest one makes space. */
static uint32_t make_slot(struct range_tree *tree, uint32_t correlation)
{
	uint32_t index = tree->cursor++ & (MAX_WAITING - 1), *head = head_of(tree, correlation);

	if (tree->slots[index].used)
		release(tree, index);
	tree->slots[index] =
		(struct slot){.correlation = correlation, .chain = *head, .used = true};
	*head = index + 1;
	if (tree->taken < MAX_WAITING)
		tree->taken++;
	return index;
}

void range_tree__launch(struct range_tree *tree, struct range_node *node, uint32_t correlation,
			bool graph)
{
	uint32_t index = find(tree, correlation);
	struct slot *slot;

	node->self.launches++;
	/* Numbers begin again after 2^32: that one was another. */
	if (index != NONE && tree->slots[index].node) {
		release(tree, index);
		index = NONE;
	}
	if (index == NONE)
		index = make_slot(tree, correlation);
	slot = &tree->slots[index];
	node->self.kernels += slot->kernels;
	node->self.gpu_ns += slot->gpu_ns;
	put_slot(tree, index, node);
	slot->graph = graph;
	if (slot->kernels && !graph)
		release(tree, index);
}

void range_tree__kernel(struct range_tree *tree, uint32_t correlation, uint32_t kernels,
			uint64_t ns)
{
	uint32_t index = find(tree, correlation);
	struct slot *slot;

	if (index == NONE)
		index = make_slot(tree, correlation);
	slot = &tree->slots[index];
	if (!slot->node) {
		slot->kernels += kernels;
		slot->gpu_ns += ns;
		return;
	}
	slot->node->self.kernels += kernels;
	slot->node->self.gpu_ns += ns;
	if (!slot->graph)
		release(tree, index);
}

void range_tree__finish(struct range_tree *tree)
{
	for (uint32_t i = 0; i < tree->taken; i++)
		if (tree->slots[i].used)
			release(tree, i);
}
