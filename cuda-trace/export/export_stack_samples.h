/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of program counters that were sampled (CUDA_TRACE_PC_STACKS). */
#ifndef CUDA_TRACE_EXPORT_EXPORT_STACK_SAMPLES_H
#define CUDA_TRACE_EXPORT_EXPORT_STACK_SAMPLES_H

#include "cuda-trace/export/export_names.h"
#include "cuda-trace/export/export_stack_tree.h"

/* Adds them to a tree that has its root. 0 or -errno, printed. */
int stacks__read_samples(struct stacks *stacks, const struct names_of_file *names,
			 const struct report_file *file);

#endif
