/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long each kernel took on each rank. One thread.
 */
#ifndef CUDA_TRACE_MERGE_MERGE_KERNELS_H
#define CUDA_TRACE_MERGE_MERGE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#define MERGE_KERNELS 1024 /* names; others are left out */

struct merge_kernel_rank {
	uint32_t rank;
	uint32_t count;
	uint64_t ns;
};

struct merge_kernel {
	char *name;
	bool nccl;
	uint64_t count, ns;
	struct merge_kernel_rank *ranks; /* in the order of reading */
	uint32_t rank_count, rank_capacity;
};

struct merge_kernels {
	struct merge_kernel *list;
	uint32_t count, capacity;
	uint64_t left_out; /* kernels of further names */
};

/* Index of the name, made if it is new; -1 = too many. */
int merge_kernels__find(struct merge_kernels *kernels, const char *name);
/* Ranks come one after the other. */
void merge_kernels__add(struct merge_kernels *kernels, int kernel, uint32_t rank, uint64_t ns);
/* By total time, longest first. */
void merge_kernels__sort(struct merge_kernels *kernels);
/* Median of the ranks' means, ns; which rank has the longest, and it. */
double merge_kernel__compare(const struct merge_kernel *kernel, uint32_t *slowest, double *mean);
void merge_kernels__free(struct merge_kernels *kernels);

#endif
