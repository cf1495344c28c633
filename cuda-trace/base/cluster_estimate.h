/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Estimates totals, with their errors, from sums of sample windows. Plain arithmetic; zeros are the
 * empty sum.
 */
#ifndef CUDA_TRACE_BASE_CLUSTER_ESTIMATE_H
#define CUDA_TRACE_BASE_CLUSTER_ESTIMATE_H

#include <stdint.h>

struct estimate_sums {
	double count;	/* of single values */
	double sum;	/* of them */
	double squares; /* the sum of theirs */
	/* By window: values of one window are alike, so windows are the random sample. */
	uint64_t window;	 /* the number of the one that is being added to */
	double in_count, in_sum; /* of it */
	double windows;		 /* those before it that had anything */
	double cc, cs, ss;	 /* over them: count², count * sum, sum² */
};

/* error: half the width of the 95 % confidence interval. */
struct estimate {
	double value;
	double error;
};

/* `count` values of which the sum is `value`; more than one at once counts as equal ones. */
void cluster_estimate__add(struct estimate_sums *sums, uint64_t window, double count, double value);
/* The sum over a population whose size is known: size times mean. */
struct estimate cluster_estimate__ratio(const struct estimate_sums *sums, double population);
/*
 * The sum, or the count, over all of the time when windows were open for a share of it; `windows`
 * counts the empty ones, too.
 */
struct estimate cluster_estimate__sum(const struct estimate_sums *sums, double share,
				      double windows);
struct estimate cluster_estimate__count(const struct estimate_sums *sums, double share,
					double windows);

#endif
