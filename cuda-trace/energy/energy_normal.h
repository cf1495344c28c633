/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Least squares for the power of a GPU's kernels: the energy of each step of its meter is the sum
 * of power x time. Only sums of products are kept, so memory does not grow with the run. There are
 * sums for each lag that the meter may have, and for each of twelve groups of steps, which are left
 * out one at a time for the confidence interval (a jackknife over groups).
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_NORMAL_H
#define CUDA_TRACE_ENERGY_ENERGY_NORMAL_H

#include <stdint.h>

#define ENERGY_COLUMNS 64
#define ENERGY_GROUPS  12
#define ENERGY_LAGS    8

/* A step: the seconds of each column that has any. */
struct energy_row {
	double joules;
	uint32_t count;
	uint8_t columns[ENERGY_COLUMNS];
	double seconds[ENERGY_COLUMNS];
};

struct energy_estimate {
	double watts[ENERGY_COLUMNS];
	double without[ENERGY_GROUPS][ENERGY_COLUMNS]; /* watts, a group of steps left out */
	double seconds[ENERGY_GROUPS][ENERGY_COLUMNS];
	double prior[ENERGY_COLUMNS], weight[ENERGY_COLUMNS]; /* of the prior: per watt squared */
	double inverse[ENERGY_COLUMNS][ENERGY_COLUMNS];
	double residual; /* joules: standard deviation of a step */
	uint32_t lag;
};

/* How well the power of some columns together is known. */
enum energy_basis {
	ENERGY_BY_TIME,	      /* not in the regression */
	ENERGY_SHORT,	      /* too few separate times to say how certain it is */
	ENERGY_NOT_SEPARABLE, /* any division between it and others fits nearly as well */
	ENERGY_REGRESSION,
};

struct energy_normal;

struct energy_normal *energy_normal__new(void);
void energy_normal__free(struct energy_normal *normal);
void energy_normal__add(struct energy_normal *normal, uint32_t lag, uint32_t group,
			const struct energy_row *row);
/* The column ends; its past is that of `into`. */
void energy_normal__fold(struct energy_normal *normal, uint32_t column, uint32_t into);
uint64_t energy_normal__rows(const struct energy_normal *normal);
/* prior: watts, above 0, by which columns are divided that the rows do not separate. */
void energy_normal__solve(const struct energy_normal *normal, const double prior[ENERGY_COLUMNS],
			  struct energy_estimate *estimate);
/* Of seconds[] x watts[]: half of the 95 % confidence interval, in joules. */
enum energy_basis energy_estimate__error(const struct energy_estimate *estimate,
					 const double seconds[ENERGY_COLUMNS], double *joules);

#endif
