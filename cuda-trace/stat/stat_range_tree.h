/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which NVTX ranges a process's kernels were launched in, as a tree of ranges within ranges: equal
 * ones in equal places are one node. Between stat_ranges.c and stat_range_tree.c.
 */
#ifndef CUDA_TRACE_STAT_STAT_RANGE_TREE_H
#define CUDA_TRACE_STAT_STAT_RANGE_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct range_sums {
	uint64_t launches; /* calls, of graphs too */
	uint64_t kernels;
	uint64_t gpu_ns;
};

#define RANGE_OPEN                                                                    \
	UINT32_MAX /* line of a node: which range it is will be reported when it ends \
		    */

struct range_node {
	struct range_node *parent, *children, *previous, *next;
	struct range_node *earlier; /* the same open range, as it was when another one was around */
	uint64_t first;		    /* ns, its first launch */
	uint32_t line;		    /* what to call it: the caller's number, or RANGE_OPEN */
	uint32_t slots;		    /* launches that wait for their kernels */
	struct range_sums self;	    /* without ranges within */
};

struct range_tree;

/* `lost`: the line of what cannot be known any more. NULL = no memory. */
struct range_tree *range_tree__new(uint32_t lost);
void range_tree__free(struct range_tree *tree);
/* Outside of all ranges. */
struct range_node *range_tree__root(struct range_tree *tree);
/* A child of the root; NULL = no space. */
struct range_node *range_tree__named(struct range_tree *tree, uint32_t line);
/* An open range in `parent`; NULL = no space. */
struct range_node *range_tree__open(struct range_tree *tree, struct range_node *parent,
				    uint64_t first);
/* It has ended, and with it all that it was earlier. The node may be another's afterwards. */
void range_tree__name(struct range_tree *tree, struct range_node *node, uint32_t line);
/* Launch and kernel come in any order; of a graph's launch any number of kernels. */
void range_tree__launch(struct range_tree *tree, struct range_node *node, uint32_t correlation,
			bool graph);
void range_tree__kernel(struct range_tree *tree, uint32_t correlation, uint32_t kernels,
			uint64_t ns);
/* No launch and no kernel comes any more. */
void range_tree__finish(struct range_tree *tree);

#endif
