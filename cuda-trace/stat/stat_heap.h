/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a process's GPU memory is allocated: for live bytes, the peak, and what was never freed.
 */
#ifndef CUDA_TRACE_STAT_STAT_HEAP_H
#define CUDA_TRACE_STAT_STAT_HEAP_H

#include "cuda-trace/stat/stat_events.h"

void stat_heap__record(struct stat_heap *heap, struct stat_events *events,
		       const struct cuda_memory *memory);
/* Adds the lines of a process that ends to those of all; accepts NULL. When these are too many the
 * last is that of all that found none: peaks of processes add up to more than there was at a time.
 */
void stat_heap__keep(const struct stat_heap *heap, const struct process *process,
		     struct stat_memory **lines, uint32_t *count);

#endif
