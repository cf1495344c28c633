// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/merge/merge_kernels.h"
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

#define LONGEST_NAME 4096

int merge_kernels__find(struct merge_kernels *kernels, const char *name)
{
	char *copy;

	for (uint32_t i = 0; i < kernels->count; i++)
		if (!strcmp(kernels->list[i].name, name))
			return i;
	if (kernels->count == MERGE_KERNELS)
		return -1;
	if (!array_grow__for_one(kernels->list, kernels->capacity, kernels->count))
		return -1;
	copy = strndup(name, LONGEST_NAME);
	if (!copy)
		return -1;
	kernels->list[kernels->count] = (struct merge_kernel){.name = copy};
	return kernels->count++;
}

void merge_kernels__add(struct merge_kernels *kernels, int index, uint32_t rank, uint64_t ns)
{
	struct merge_kernel *kernel;
	struct merge_kernel_rank *of;

	if (index < 0) {
		kernels->left_out++;
		return;
	}
	kernel = &kernels->list[index];
	of = kernel->ranks + kernel->rank_count;
	/* Those of the ranks of one file come in between. */
	for (uint32_t i = 0; i < 64 && of > kernel->ranks; i++)
		if ((--of)->rank == rank)
			break;
	if (of == kernel->ranks + kernel->rank_count || of->rank != rank) {
		if (!array_grow__for_one(kernel->ranks, kernel->rank_capacity, kernel->rank_count))
			return;
		of = kernel->ranks + kernel->rank_count++;
		*of = (struct merge_kernel_rank){.rank = rank};
	}
	of->count++;
	of->ns += ns;
	kernel->count++;
	kernel->ns += ns;
}

static int by_time(const void *a, const void *b)
{
	const struct merge_kernel *left = a, *right = b;

	return (left->ns < right->ns) - (left->ns > right->ns);
}

void merge_kernels__sort(struct merge_kernels *kernels)
{
	if (kernels->count)
		qsort(kernels->list, kernels->count, sizeof(*kernels->list), by_time);
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double merge_kernel__compare(const struct merge_kernel *kernel, uint32_t *slowest, double *mean)
{
	uint32_t count = kernel->rank_count;
	double *means = calloc(count ? count : 1, sizeof(*means)), middle = 0;

	*mean = 0;
	*slowest = 0;
	for (uint32_t i = 0; means && i < count; i++) {
		means[i] = (double)kernel->ranks[i].ns / kernel->ranks[i].count;
		if (means[i] > *mean) {
			*mean = means[i];
			*slowest = kernel->ranks[i].rank;
		}
	}
	if (means && count) {
		qsort(means, count, sizeof(*means), by_value);
		middle = count % 2 ? means[count / 2]
				   : (means[count / 2 - 1] + means[count / 2]) / 2;
	}
	free(means);
	return middle;
}

void merge_kernels__free(struct merge_kernels *kernels)
{
	for (uint32_t i = 0; i < kernels->count; i++) {
		free(kernels->list[i].name);
		free(kernels->list[i].ranks);
	}
	free(kernels->list);
	*kernels = (struct merge_kernels){};
}
