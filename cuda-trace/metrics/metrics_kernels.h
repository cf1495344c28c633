/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics --by-kernel N: which N kernels have series of their own. All others are counted as
 * kernel="other" of their label set. A kernel counts under its name from when it got one, so that
 * no counter ever falls and the sum over names is exact. Used under the exporter's lock.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_KERNELS_H
#define CUDA_TRACE_METRICS_METRICS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

struct kernels;
struct series;
struct series_table;

/* Since the kernel has a name. */
struct kernel_sums {
	uint64_t count, ns;
	double joules;
	double created;
};

struct kernels *kernels__new(unsigned int limit);
void kernels__free(struct kernels *kernels);
/* name: demangled, untrusted; NULL = unknown. */
void kernels__add(struct kernels *kernels, struct series *series, const char *name, uint64_t count,
		  uint64_t ns);
/* Names those that took the most time of late. Cheap: to be called at every collect. */
void kernels__rank(struct kernels *kernels);
void kernels__forget(struct kernels *kernels, struct series *series);
/* Of each kernel that has a name: labels is the whole rendered label set. */
void kernels__each(struct kernels *kernels,
		   void (*each)(void *context, const char *labels, const struct kernel_sums *sums),
		   void *context);
/* The joules that the label sets have got since the last time, in proportion to the kernels' time
 * of late. */
void kernels__divide(struct kernels *kernels, struct series_table *table);

#endif
