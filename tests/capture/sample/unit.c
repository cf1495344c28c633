// SPDX-License-Identifier: BSD-2-Clause
/*
 * Draws windows from programs that it knows, many times, and counts how often the truth lies within
 * the error that cuda-trace/base/cluster_estimate.c says. Random numbers with a fixed seed: each
 * run is the same.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda-trace/base/cluster_estimate.h"

#define PERIODS 40
#define LENGTH	400 /* places for a launch in a period */
#define WINDOW	40
#define TRIALS	2000

static int failures;
static uint64_t random_state = 88172645463325252ull;

static double draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / (1ull << 53);
}

static void check(bool holds, const char *what, double value)
{
	if (holds)
		return;
	printf("%s: %g\n", what, value);
	failures++;
}

/* Kernel times, 0 = no launch at that place. */
static double program[PERIODS][LENGTH];

enum shape { EVEN, DRIFTING, BURSTS };

static void make_program(enum shape shape)
{
	for (int p = 0; p < PERIODS; p++) {
		double rate = shape == BURSTS ? (p % 4 ? 0.1 : 0.9) : 0.7;

		for (int i = 0; i < LENGTH; i++) {
			double ns = 1000 + 4000 * draw();

			if (shape == DRIFTING)
				ns *= 1 + (double)p / PERIODS;
			program[p][i] = draw() < rate ? ns : 0;
		}
	}
}

static double coverage(enum shape shape, bool by_time, double *bias)
{
	double count = 0, sum = 0, means = 0;
	int within = 0;

	make_program(shape);
	for (int p = 0; p < PERIODS; p++)
		for (int i = 0; i < LENGTH; i++) {
			count += program[p][i] > 0;
			sum += program[p][i];
		}
	for (int trial = 0; trial < TRIALS; trial++) {
		struct estimate_sums sums = {};
		struct estimate estimate;

		for (int p = 0; p < PERIODS; p++) {
			int from = draw() * (LENGTH - WINDOW);

			for (int i = from; i < from + WINDOW; i++)
				if (program[p][i] > 0)
					cluster_estimate__add(&sums, p + 1, 1, program[p][i]);
		}
		estimate = by_time ? cluster_estimate__sum(&sums, (double)WINDOW / LENGTH, PERIODS)
				   : cluster_estimate__ratio(&sums, count);
		within += fabs(estimate.value - sum) <= estimate.error;
		means += estimate.value / TRIALS;
	}
	*bias = means / sum - 1;
	return (double)within / TRIALS;
}

static void test_coverage(void)
{
	static const char *const names[] = {"even", "drifting", "bursts"};

	for (enum shape shape = EVEN; shape <= BURSTS; shape++)
		for (int by_time = 0; by_time <= 1; by_time++) {
			double bias, share = coverage(shape, by_time, &bias);

			printf("%s, by %s: %.1f%% within the error, %+.3f%% off on average\n",
			       names[shape], by_time ? "time" : "launches", share * 100,
			       bias * 100);
			check(share >= 0.93, "the truth is outside too often", share);
			check(fabs(bias) < 0.01, "the mean of estimates is off", bias);
		}
}

/* What is known wholly, or not at all. */
static void test_edges(void)
{
	struct estimate_sums none = {}, one = {}, all = {};

	check(cluster_estimate__ratio(&none, 10).value == 0, "something from nothing", 0);
	cluster_estimate__add(&one, 1, 1, 500);
	check(cluster_estimate__ratio(&one, 10).value == 5000, "one value",
	      cluster_estimate__ratio(&one, 10).value);
	check(cluster_estimate__ratio(&one, 10).error == 5000, "one value's error",
	      cluster_estimate__ratio(&one, 10).error);
	check(cluster_estimate__ratio(&one, 1).error == 0, "the only value's error", 0);
	for (int i = 0; i < 10; i++)
		cluster_estimate__add(&all, i / 3, 1, i);
	check(cluster_estimate__ratio(&all, 10).value == 45, "all values",
	      cluster_estimate__ratio(&all, 10).value);
	check(cluster_estimate__ratio(&all, 10).error == 0, "all values' error", 0);
	check(cluster_estimate__ratio(&all, 20).error > 0, "half of the values have no error", 0);
	check(cluster_estimate__sum(&all, 1, 4).value == 45 &&
		      cluster_estimate__sum(&all, 1, 4).error == 0,
	      "all of the time", cluster_estimate__sum(&all, 1, 4).value);
	check(cluster_estimate__count(&all, 0.5, 4).value == 20, "half of the time",
	      cluster_estimate__count(&all, 0.5, 4).value);
	check(cluster_estimate__sum(&all, 0, 0).value == 0, "no window",
	      cluster_estimate__sum(&all, 0, 0).value);
}

int main(void)
{
	test_edges();
	test_coverage();
	return failures != 0;
}
