/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of a running process → what collectives.h wants to know of them. One thread.
 */
#ifndef CUDA_TRACE_COLLECTIVES_COLLECTIVE_RECORDS_H
#define CUDA_TRACE_COLLECTIVES_COLLECTIVE_RECORDS_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/collectives/collectives.h"

/* A launch, a node of a graph, or a kernel; others are ignored. */
void collective_records__put(struct collectives *collectives, const struct process *process,
			     const struct cuda_record *record);

#endif
