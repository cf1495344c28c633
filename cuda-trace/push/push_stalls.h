/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PC samples of an interval, summed by process, GPU, kernel and stall reason, and the stacks of
 * launches among which those of a kernel are divided: CUPTI does not say which launch a sample
 * belongs to. Memory is bounded: what does not fit is counted. One thread.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_STALLS_H
#define CUDA_TRACE_PUSH_PUSH_STALLS_H

#include "cuda-trace/push/push_tree.h"

struct push_stalls;

/* NULL = no memory. */
struct push_stalls *push_stalls__new(void);
void push_stalls__free(struct push_stalls *stalls);
/* Samples, what a window came to, or a launch with the number of its stack (0 = not known yet). */
void push_stalls__sample(struct push_stalls *stalls, struct push_process *own,
			 const struct cuda_pc_sample *sample);
void push_stalls__window(struct push_stalls *stalls, struct push_process *own,
			 const struct cuda_pc_window *window);
void push_stalls__launch(struct push_stalls *stalls, struct push_process *own,
			 const struct cuda_launch *launch, uint32_t stack);
/* The stack of a launch, which may have come before. */
void push_stalls__stack(struct push_stalls *stalls, struct push_process *own, uint32_t correlation,
			uint32_t stack);

/* The sums as groups, which are empty; their texts of reasons live until push_stalls__next(). 0 or
 * -ENOMEM. */
int push_stalls__fill(struct push_stalls *stalls, struct push_groups *groups);
/* An interval ends. Kernels that were not launched in the next one keep their stacks. Call it
 * before processes that have ended are freed. */
void push_stalls__next(struct push_stalls *stalls);
/* The numbers of stacks begin anew. */
void push_stalls__forget_stacks(struct push_stalls *stalls);

void push_stalls__count(const struct push_stalls *stalls, struct push_stall_counts *counts);

#endif
