// SPDX-License-Identifier: BSD-2-Clause
/*
 * The textbook's estimators for cluster samples: windows are the clusters. An error computed from
 * few windows is itself uncertain; Student's factors widen the interval for that. From a single
 * value nothing can be said, and from values that all came in one window only as if each had been
 * drawn by itself.
 */
#include "cuda-trace/base/cluster_estimate.h"

#include <math.h>

void cluster_estimate__add(struct estimate_sums *sums, uint64_t window, double count, double value)
{
	sums->count += count;
	sums->sum += value;
	sums->squares += count > 0 ? value * value / count : 0;
	if (window != sums->window && sums->in_count > 0) {
		sums->windows++;
		sums->cc += sums->in_count * sums->in_count;
		sums->cs += sums->in_count * sums->in_sum;
		sums->ss += sums->in_sum * sums->in_sum;
		sums->in_count = sums->in_sum = 0;
	}
	sums->window = window;
	sums->in_count += count;
	sums->in_sum += value;
}

/* With the window that is still being added to. */
static struct estimate_sums closed(const struct estimate_sums *sums)
{
	struct estimate_sums whole = *sums;

	cluster_estimate__add(&whole, sums->window + 1, 0, 0);
	return whole;
}

/* Student's t, two-sided, 95 %. */
static double factor(double degrees)
{
	static const double factors[] = {12.71, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36,
					 2.31,	2.26,  2.23, 2.20, 2.18, 2.16, 2.14, 2.13};
	int n = degrees;

	return n < 16 ? factors[n < 1 ? 1 : n] : 1.96 + 2.5 / degrees;
}

struct estimate cluster_estimate__ratio(const struct estimate_sums *open, double population)
{
	struct estimate_sums sums = closed(open);
	double mean, left, single = 0, clusters = 0;

	if (sums.count <= 0)
		return (struct estimate){};
	mean = sums.sum / sums.count;
	/* What was not drawn; none of it: no estimate, but the truth. */
	left = population > sums.count ? 1 - sums.count / population : 0;
	if (sums.count < 2)
		return (struct estimate){mean * population, left > 0 ? mean * population : 0};
	single = (sums.squares - sums.count * mean * mean) / (sums.count - 1);
	single = factor(sums.count - 1) * sqrt(fmax(single, 0) * left / sums.count);
	if (sums.windows > 1) {
		double spread = sums.ss - 2 * mean * sums.cs + mean * mean * sums.cc;

		clusters = fmax(spread, 0) * left * sums.windows / (sums.windows - 1);
		clusters = factor(sums.windows - 1) * sqrt(clusters) / sums.count;
	}
	return (struct estimate){mean * population, fmax(single, clusters) * population};
}

static struct estimate expand(double sum, double squares, double share, double windows)
{
	double variance;

	if (share <= 0)
		return (struct estimate){};
	if (share >= 1)
		return (struct estimate){sum, 0};
	if (windows < 2)
		return (struct estimate){sum / share, sum / share};
	variance = (squares - sum * sum / windows) / (windows - 1);
	return (struct estimate){sum / share,
				 factor(windows - 1) *
					 sqrt(fmax(variance, 0) * windows * (1 - share)) / share};
}

struct estimate cluster_estimate__sum(const struct estimate_sums *sums, double share,
				      double windows)
{
	struct estimate_sums whole = closed(sums);

	return expand(whole.sum, whole.ss, share, fmax(windows, whole.windows));
}

struct estimate cluster_estimate__count(const struct estimate_sums *sums, double share,
					double windows)
{
	struct estimate_sums whole = closed(sums);

	return expand(whole.count, whole.cc, share, fmax(windows, whole.windows));
}
