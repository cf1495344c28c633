/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a process's GPU memory is allocated: for live bytes, the peak, and what was never freed.
 */
#ifndef CUDA_TRACE_STAT_HEAP_H
#define CUDA_TRACE_STAT_HEAP_H

#include "cuda-trace/stat_events.h"

void stat_heap__record(struct stat_heap *heap, struct stat_events *events,
		       const struct cuda_memory *memory);

#endif
