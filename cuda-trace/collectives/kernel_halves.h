/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of NCCL and kernels of one process, by the correlation id of the launch between them and
 * the node of the graph: each waits until the other half comes. One thread.
 */
#ifndef CUDA_TRACE_COLLECTIVES_KERNEL_HALVES_H
#define CUDA_TRACE_COLLECTIVES_KERNEL_HALVES_H

#include "cuda-trace/collectives/nccl_comms.h"

#define KERNEL_HALVES_BUCKETS 1024

struct kernel_half {
	struct kernel_half *next;
	uint32_t correlation;
	bool is_kernel;
	uint32_t device;
	uint64_t node; /* of a recording: in a graph, whose kernels share the launch; 0 = none */
	uint64_t start, end;
	struct nccl_comm_work work;
};

struct kernel_halves {
	struct nccl_comms *comms;
	struct kernel_half *buckets[KERNEL_HALVES_BUCKETS];
	uint32_t count;
};

/* Completes its other half, whose kernel is counted then; or waits for it. */
void kernel_halves__put(struct kernel_halves *halves, const struct kernel_half *half);
/* What calls with the same kernel as this one do, to be added to; NULL: none waits. */
struct nccl_comm_work *kernel_halves__call(struct kernel_halves *halves,
					   const struct kernel_half *half);
/* A call that has no kernel after all. */
void kernel_halves__drop(struct kernel_halves *halves, uint32_t correlation);
void kernel_halves__forget(struct kernel_halves *halves);

#endif
