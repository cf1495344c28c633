/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `profile --pc --flamegraph, --folded, -g`: samples as a tree, process → the host's functions →
 * kernel → line → what was waited for. One thread.
 */
#ifndef CUDA_TRACE_PROFILE_PC_PC_STACKS_H
#define CUDA_TRACE_PROFILE_PC_PC_STACKS_H

#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/profile/pc/pc_graphs.h"
#include "cuda-trace/profile/pc/pc_table.h"

struct pc_stacks;

/* One launch in `period` will have a stack; 0 = none. NULL = no memory. */
struct pc_stacks *pc_stacks__new(uint32_t period);
void pc_stacks__start(struct pc_stacks *all, struct process *process);
/* A launch, a node of a graph, or samples that the table has just counted. */
void pc_stacks__record(struct pc_stacks *all, struct process *process,
		       const struct cuda_record *record, const struct pc_table *table);
/* The sink's. */
void pc_stacks__event(struct pc_stacks *all, struct process *process, const struct event *event);
void pc_stacks__end(struct pc_stacks *all, struct process *process);
/* The tree, of a table that is not sorted yet: 0 or -errno. Names functions of the host. */
int pc_stacks__tree(struct pc_stacks *all, const struct pc_table *table, struct stacks *tree);
/* What it does not know of graphs, once the tree was made. */
const struct pc_graphs_unknown *pc_stacks__unknown(const struct pc_stacks *all);
/* Samples that are not in it, because too many different ones came. */
uint64_t pc_stacks__left_out(const struct pc_stacks *all);
void pc_stacks__free(struct pc_stacks *all);

#endif
