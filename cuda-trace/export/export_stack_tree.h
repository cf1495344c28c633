/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where GPU time went, as a tree: process → the host's functions, where the recording has stacks →
 * device → stream → kernel. Flame graphs, folded stacks and pprof are three ways to write it.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_STACK_TREE_H
#define CUDA_TRACE_EXPORT_EXPORT_STACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/report/report_file.h"

struct stacks_node {
	char *name;	 /* cleaned text; of a process with its pid: "python3 (4711)" */
	size_t stable;	 /* bytes of name that another run has, too: without the pid */
	uint64_t ns;	 /* on the GPU, of this node and all below it; or samples */
	uint64_t count;	 /* kernels and so on; 0 of samples */
	uint32_t parent; /* index; the root's is itself */
	uint32_t depth;	 /* of the root 0 */
	/* Of the host's functions, where the file says it: as in struct chain_place. */
	char *module, *build_id;
	uint64_t address; /* of the first of its calls */
	char *source;	  /* with stacks__read_lines(): path of the source file, or NULL */
	uint32_t line;	  /* in it; 0 = not known */
	bool inlined;	  /* into its parent, at the same address; marked in the name */
	/* Of leaves: what the pprof labels say. */
	int64_t pid, device, stream;
	bool leaf;
	bool kernel; /* of `push`: a leaf, or above the leaves that say what its warps waited for */
	bool place;  /* a GPU or a stream */
	bool missing; /* [no stack], [no operator], ... of --by */
};

struct stacks {
	struct stacks_node *nodes; /* [0] is the root, "all"; parents come before children */
	size_t count, capacity;
	struct key_index index; /* by parent and name */
	uint32_t period; /* the host's stacks are of one in so many launches; 0 = there are none */
	uint64_t nameless; /* of their frames */
	bool samples;	   /* what is counted is samples, not time */
};

/* 0 or -errno, printed. */
int stacks__read(struct stacks *stacks, const struct report_file *file);
/* The same, with a node for each line of a function that calls. */
int stacks__read_lines(struct stacks *stacks, const struct report_file *file);
/* A tree of other things: the child of that name, made if there is none; UINT32_MAX without memory.
 * The first one made is the root. */
uint32_t stacks__child(struct stacks *stacks, uint32_t parent, const char *name);
/* To the node and all above it. */
void stacks__add(struct stacks *stacks, uint32_t node, uint64_t ns, uint64_t count);
/* The tree as "root;...;leaf NUMBER" lines of its leaves, or as a picture; 0 or -errno. */
void stacks__write_folded(const struct stacks *stacks, FILE *out);
int stacks__write_flamegraph(const struct stacks *stacks, FILE *out);
void stacks__free(struct stacks *stacks);

#endif
