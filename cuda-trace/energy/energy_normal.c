// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ridge regression: power has a prior (the division by time) with a standard deviation of a quarter
 * of it, and the noise of a step is what the residuals show. Where the steps determine a power, the
 * prior has a weight of next to nothing; where they do not, it remains. See
 * docs/internals/energy.md.
 */
#include "cuda-trace/energy/energy_normal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PACKED	   (ENERGY_COLUMNS * (ENERGY_COLUMNS + 1) / 2)
#define PRIOR_SD   0.25 /* of the prior */
#define MAX_DOUBT  0.04 /* (0.2 of that deviation)^2: an uncertainty of about 10 % */
#define MIN_GROUPS 3

struct sums {
	double products[PACKED];     /* of seconds and seconds; the lower triangle, by rows */
	double with[ENERGY_COLUMNS]; /* of seconds and joules */
};

struct energy_normal {
	struct sums sums[ENERGY_LAGS][ENERGY_GROUPS];
	double seconds[ENERGY_GROUPS][ENERGY_COLUMNS]; /* at the first lag */
	double squares[ENERGY_GROUPS];		       /* of joules */
	uint64_t rows;				       /* at the first lag */
};

typedef double matrix[ENERGY_COLUMNS][ENERGY_COLUMNS];

struct energy_normal *energy_normal__new(void)
{
	return calloc(1, sizeof(struct energy_normal));
}

void energy_normal__free(struct energy_normal *normal)
{
	free(normal);
}

uint64_t energy_normal__rows(const struct energy_normal *normal)
{
	return normal->rows;
}

static uint32_t packed(uint32_t a, uint32_t b)
{
	return a > b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
}

void energy_normal__add(struct energy_normal *normal, uint32_t lag, uint32_t group,
			const struct energy_row *row)
{
	struct sums *sums = &normal->sums[lag][group];

	for (uint32_t i = 0; i < row->count; i++) {
		for (uint32_t j = 0; j <= i; j++)
			sums->products[packed(row->columns[i], row->columns[j])] +=
				row->seconds[i] * row->seconds[j];
		sums->with[row->columns[i]] += row->seconds[i] * row->joules;
		if (!lag)
			normal->seconds[group][row->columns[i]] += row->seconds[i];
	}
	if (lag)
		return;
	normal->squares[group] += row->joules * row->joules;
	normal->rows++;
}

static void fold(struct sums *sums, uint32_t column, uint32_t into)
{
	double *products = sums->products, own = products[packed(column, column)];

	products[packed(into, into)] += own + 2 * products[packed(column, into)];
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++) {
		if (i != into && i != column)
			products[packed(into, i)] += products[packed(column, i)];
		products[packed(column, i)] = 0;
	}
	sums->with[into] += sums->with[column];
	sums->with[column] = 0;
}

void energy_normal__fold(struct energy_normal *normal, uint32_t column, uint32_t into)
{
	for (uint32_t group = 0; group < ENERGY_GROUPS; group++) {
		for (uint32_t lag = 0; lag < ENERGY_LAGS; lag++)
			fold(&normal->sums[lag][group], column, into);
		normal->seconds[group][into] += normal->seconds[group][column];
		normal->seconds[group][column] = 0;
	}
}

/* Of all groups but one. */
static void add_up(const struct energy_normal *normal, uint32_t lag, uint32_t without,
		   struct sums *all)
{
	memset(all, 0, sizeof(*all));
	for (uint32_t group = 0; group < ENERGY_GROUPS; group++) {
		const struct sums *sums = &normal->sums[lag][group];

		for (uint32_t i = 0; i < PACKED && group != without; i++)
			all->products[i] += sums->products[i];
		for (uint32_t i = 0; i < ENERGY_COLUMNS && group != without; i++)
			all->with[i] += sums->with[i];
	}
}

/* Cholesky's decomposition of the products with the prior's weights: positive definite, as these
 * are above 0. */
static void factor(const struct sums *sums, const double *weight, matrix lower)
{
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
		for (uint32_t j = 0; j <= i; j++) {
			double sum = sums->products[packed(i, j)] + (i == j ? weight[i] : 0);

			for (uint32_t k = 0; k < j; k++)
				sum -= lower[i][k] * lower[j][k];
			/* Rounding only: never below what the prior adds. */
			if (i == j)
				lower[i][i] = sqrt(fmax(sum, weight[i] / 2));
			else
				lower[i][j] = sum / lower[j][j];
		}
}

static void substitute(matrix lower, const double *right, double *result)
{
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++) {
		double sum = right[i];

		for (uint32_t k = 0; k < i; k++)
			sum -= lower[i][k] * result[k];
		result[i] = sum / lower[i][i];
	}
	for (uint32_t i = ENERGY_COLUMNS; i--;) {
		double sum = result[i];

		for (uint32_t k = i + 1; k < ENERGY_COLUMNS; k++)
			sum -= lower[k][i] * result[k];
		result[i] = sum / lower[i][i];
	}
}

static void solve(const struct sums *sums, const double *prior, const double *weight, matrix lower,
		  double *watts)
{
	double right[ENERGY_COLUMNS];

	factor(sums, weight, lower);
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
		right[i] = sums->with[i] + weight[i] * prior[i];
	substitute(lower, right, watts);
}

/* The sum of the squares of what the powers do not explain. */
static double unexplained(const struct sums *sums, const double *watts, double squares)
{
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++) {
		double sum = 0;

		for (uint32_t j = 0; j < ENERGY_COLUMNS; j++)
			sum += sums->products[packed(i, j)] * watts[j];
		squares += watts[i] * (sum - 2 * sums->with[i]);
	}
	return fmax(squares, 0);
}

/* The lag at which the residuals are smallest, and these. */
static void fit_lag(const struct energy_normal *normal, const double *prior, matrix lower,
		    struct energy_estimate *estimate)
{
	double least = INFINITY, squares = 0, used = 0, weight[ENERGY_COLUMNS];
	struct sums sums;

	for (uint32_t group = 0; group < ENERGY_GROUPS; group++)
		squares += normal->squares[group];
	for (uint32_t lag = 0; lag < ENERGY_LAGS; lag++) {
		double rest;

		add_up(normal, lag, ENERGY_GROUPS, &sums);
		for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
			weight[i] = 1e-6 * sums.products[packed(i, i)] + 1e-9;
		solve(&sums, prior, weight, lower, estimate->watts);
		rest = unexplained(&sums, estimate->watts, squares);
		if (rest >= least)
			continue;
		least = rest;
		estimate->lag = lag;
		used = 0;
		for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
			used += sums.products[packed(i, i)] > 0;
	}
	least /= fmax((double)normal->rows - used, 1);
	/* A thousandth of a mean step, in case that nothing is left. */
	squares /= fmax((double)normal->rows, 1);
	estimate->residual = sqrt(fmax(least, 1e-6 * squares));
}

void energy_normal__solve(const struct energy_normal *normal, const double prior[ENERGY_COLUMNS],
			  struct energy_estimate *estimate)
{
	matrix lower;
	struct sums sums;

	memset(estimate, 0, sizeof(*estimate));
	fit_lag(normal, prior, lower, estimate);
	memcpy(estimate->prior, prior, sizeof(estimate->prior));
	memcpy(estimate->seconds, normal->seconds, sizeof(estimate->seconds));
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
		estimate->weight[i] = pow(estimate->residual / (PRIOR_SD * prior[i]), 2) + 1e-12;
	for (uint32_t group = 0; group < ENERGY_GROUPS; group++) {
		add_up(normal, estimate->lag, group, &sums);
		solve(&sums, prior, estimate->weight, lower, estimate->without[group]);
	}
	add_up(normal, estimate->lag, ENERGY_GROUPS, &sums);
	solve(&sums, prior, estimate->weight, lower, estimate->watts);
	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++) {
		double unit[ENERGY_COLUMNS] = {0};

		unit[i] = 1;
		substitute(lower, unit, estimate->inverse[i]);
	}
}

/* In how many groups the columns have time, one that has little counting less; 0 = none. */
static double groups_of(const struct energy_estimate *estimate, const double *seconds)
{
	double all = 0, squares = 0;

	for (uint32_t group = 0; group < ENERGY_GROUPS; group++) {
		double sum = 0;

		for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
			sum += seconds[i] > 0 ? estimate->seconds[group][i] : 0;
		all += sum;
		squares += sum * sum;
	}
	return squares > 0 ? all * all / squares : 0;
}

/* How much of the prior's uncertainty (variance) the steps leave, from 0 to 1. */
static double doubt_of(const struct energy_estimate *estimate, const double *seconds)
{
	double after = 0, before = 0;

	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++) {
		for (uint32_t j = 0; seconds[i] > 0 && j < ENERGY_COLUMNS; j++)
			after += seconds[i] * seconds[j] * estimate->inverse[i][j];
		before += seconds[i] * seconds[i] / estimate->weight[i];
	}
	return before > 0 ? after / before : 1;
}

static double product(const double *seconds, const double *watts)
{
	double joules = 0;

	for (uint32_t i = 0; i < ENERGY_COLUMNS; i++)
		joules += seconds[i] * watts[i];
	return joules;
}

static double standard_error(const struct energy_estimate *estimate, const double *seconds)
{
	double each[ENERGY_GROUPS], mean = 0, squares = 0;

	for (uint32_t group = 0; group < ENERGY_GROUPS; group++) {
		each[group] = product(seconds, estimate->without[group]);
		mean += each[group] / ENERGY_GROUPS;
	}
	for (uint32_t group = 0; group < ENERGY_GROUPS; group++)
		squares += (each[group] - mean) * (each[group] - mean);
	return sqrt(squares * (ENERGY_GROUPS - 1) / ENERGY_GROUPS);
}

enum energy_basis energy_estimate__error(const struct energy_estimate *estimate,
					 const double seconds[ENERGY_COLUMNS], double *joules)
{
	/* Student's t for 95 %, by degrees of freedom from 2. */
	static const double quantile[] = {4.303, 3.182, 2.776, 2.571, 2.447,
					  2.365, 2.306, 2.262, 2.228, 2.201};
	double groups = groups_of(estimate, seconds), doubt = doubt_of(estimate, seconds), pulled;

	if (doubt > MAX_DOUBT)
		return ENERGY_NOT_SEPARABLE;
	if (groups < MIN_GROUPS)
		return ENERGY_SHORT;
	/* By how much the prior moved it, at most. */
	pulled = fabs(product(seconds, estimate->watts) - product(seconds, estimate->prior)) *
		 doubt / (1 - doubt);
	*joules = quantile[(int)(groups + 1e-9) - MIN_GROUPS] * standard_error(estimate, seconds) +
		  pulled;
	return ENERGY_REGRESSION;
}
