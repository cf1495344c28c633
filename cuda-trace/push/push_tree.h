/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of an interval, and the trees that are made of them: one for each source. */
#ifndef CUDA_TRACE_PUSH_PUSH_TREE_H
#define CUDA_TRACE_PUSH_PUSH_TREE_H

#include "cuda-trace/push/push_profile.h"
#include "cuda-trace/recording/store_callstacks.h"

struct push_process {
	struct process *process; /* NULL = it has ended */
	uint32_t number;
	char cgroup[512];
	enum origin_state origin_state;
	struct push_source source;
	struct callstacks_process *callstacks;
	struct push_graphs *graphs;
	struct push_process *next;
};

/* Kernels of one name, stream and GPU. */
struct push_group {
	struct push_process *owner;
	uint32_t name, device, stream;
	bool in_graph;
	bool by_node;	/* its calls have numbers of nodes, not of stacks */
	uint32_t calls; /* the first one; 0 = none has a stack */
	uint64_t ns, count;
	char *text;	    /* the name, where the process has ended */
	const char *reason; /* of samples: what the kernel's warps waited for; NULL = dropped */
};

/* Those of one stack. Of samples: the kernel's launches from there, in both fields. */
struct push_call {
	uint32_t stack, next;
	uint64_t ns, count;
};

/* Both lists begin with element 1. */
struct push_groups {
	struct push_group *list;
	struct push_call *calls;
	uint32_t count, call_count;
	size_t capacity, call_capacity;
};

struct push_tree_options {
	struct push_groups *groups;
	const struct store_callstacks *stored;
	uint32_t period;
	bool by_pid;
	bool samples; /* `ns` and `count` of groups are samples, which calls have no part of */
	int (*take)(void *context, const struct push_source *source, struct stacks *stacks);
	void *context;
};

/* 0, -ENOMEM, or what take() returned. */
int push_tree__make(const struct push_tree_options *options);
/* Clean; the caller frees it. NULL = no memory. */
char *push_tree__kernel_name(struct process *process, uint32_t name);

#endif
