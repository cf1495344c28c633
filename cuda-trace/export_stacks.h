/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where GPU time went, as a tree: process → the host's functions, where the recording has stacks →
 * device → stream → kernel. Flame graphs, folded stacks and pprof are three ways to write it.
 */
#ifndef CUDA_TRACE_EXPORT_STACKS_H
#define CUDA_TRACE_EXPORT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/report_file.h"

struct stacks_node {
	char *name;	 /* cleaned text */
	uint64_t ns;	 /* on the GPU, of this node and all below it */
	uint64_t count;	 /* kernels and so on */
	uint32_t parent; /* index; the root's is itself */
	uint32_t depth;	 /* of the root 0 */
	/* Of leaves: what the pprof labels say. */
	int64_t pid, device, stream;
	bool leaf;
	bool place; /* a GPU or a stream */
};

struct stacks {
	struct stacks_node *nodes; /* [0] is the root, "all"; parents come before children */
	size_t count, room;
	uint32_t *table; /* open addressing by parent and name: index + 1, 0 = free */
	size_t table_room;
	uint32_t period; /* the host's stacks are of one in so many launches; 0 = there are none */
	uint64_t nameless; /* of their frames */
};

/* 0 or -errno, printed. */
int stacks__read(struct stacks *stacks, const struct report_file *file);
void stacks__free(struct stacks *stacks);

#endif
