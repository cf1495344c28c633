// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pairs become at most BLOCKS medians, so that the slopes between all of them (Theil-Sen) cost
 * little and outliers within a block count nothing. The error comes from the medians, too: what
 * pairs that are close in time have in common is so not averaged away.
 */
#include "cuda-trace/merge/clock_fit.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS	   64
#define LEAST	   4	   /* blocks for a drift */
#define MAX_DRIFT  1e-3	   /* of quartz, a hundred times less */
#define LEAST_STEP 20000.0 /* ns: smaller ones disappear among what ends are apart */
#define STEP_NOISE 12.0	   /* times what is usual between neighbours */
#define MAD_SIGMA  1.4826  /* of a normal distribution, as the next */
#define MEDIAN_SE  1.2533

struct block {
	double time, ahead; /* less the first pair's */
};

struct blocks {
	struct block list[BLOCKS];
	int count;
	double slopes[BLOCKS * (BLOCKS - 1) / 2], values[BLOCKS];
};

static int by_time(const void *a, const void *b)
{
	const struct clock_pair *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts them. */
static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double deviation(double *values, size_t count)
{
	double middle = median(values, count);

	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - middle);
	return MAD_SIGMA * median(values, count);
}

/* `scratch` has space for a block's pairs. */
static void make_blocks(struct blocks *blocks, const struct clock_pair *pairs, size_t count,
			double *scratch)
{
	blocks->count = count < BLOCKS ? count : BLOCKS;
	for (int i = 0; i < blocks->count; i++) {
		size_t from = count * i / blocks->count, to = count * (i + 1) / blocks->count;
		double sum = 0;

		for (size_t k = from; k < to; k++) {
			scratch[k - from] = pairs[k].ahead - pairs[0].ahead;
			sum += pairs[k].time - pairs[0].time;
		}
		blocks->list[i].time = sum / (to - from);
		blocks->list[i].ahead = median(scratch, to - from);
	}
}

static double slope_of(struct blocks *blocks)
{
	size_t count = 0;
	double slope;

	for (int i = 0; i < blocks->count; i++)
		for (int k = i + 1; k < blocks->count; k++)
			if (blocks->list[k].time > blocks->list[i].time)
				blocks->slopes[count++] =
					(blocks->list[k].ahead - blocks->list[i].ahead) /
					(blocks->list[k].time - blocks->list[i].time);
	slope = blocks->count >= LEAST && count ? median(blocks->slopes, count) : 0;
	return fabs(slope) <= MAX_DRIFT ? slope : 0;
}

static double error_of(struct blocks *blocks, double middle, double drift)
{
	double variance = 0, span = 0, sigma;
	int count = blocks->count;

	if (count < LEAST)
		return -1;
	for (int i = 0; i < count; i++) {
		double from_middle = blocks->list[i].time - middle;

		blocks->values[i] = blocks->list[i].ahead - drift * from_middle;
		variance += from_middle * from_middle;
		span = fmax(span, fabs(from_middle));
	}
	sigma = deviation(blocks->values, count) * MEDIAN_SE;
	return 2 * sigma * sqrt(1.0 / count + (variance > 0 ? span * span / variance : 0));
}

static void fit_line(struct clock_line *line, struct blocks *blocks, const struct clock_pair *pairs,
		     size_t count, double *scratch)
{
	double middle, drift;

	make_blocks(blocks, pairs, count, scratch);
	drift = slope_of(blocks);
	middle = (double)(pairs[count - 1].time - pairs[0].time) / 2;
	line->middle = pairs[0].time + (int64_t)middle;
	for (int i = 0; i < blocks->count; i++)
		blocks->values[i] = blocks->list[i].ahead - drift * (blocks->list[i].time - middle);
	line->ahead = pairs[0].ahead + median(blocks->values, blocks->count);
	line->drift = drift;
	line->error = error_of(blocks, middle, drift);
	line->pairs = count;
	for (size_t i = 0; i < count; i++)
		scratch[i] =
			fabs(pairs[i].ahead - line->ahead - drift * (pairs[i].time - line->middle));
	line->spread = MAD_SIGMA * median(scratch, count);
}

/* Of three blocks, as it were at time 0. */
static double level(const struct blocks *blocks, int first, double drift)
{
	double values[3];

	for (int i = 0; i < 3; i++)
		values[i] = blocks->list[first + i].ahead - drift * blocks->list[first + i].time;
	return median(values, 3);
}

/* The block behind which the clock has stepped; -1 = nowhere. A step between two blocks, or inside
 * of one, is the largest change from one to the next that drift and noise do not explain, and that
 * stays: a single collective whose ends are apart is none. */
static int find_step(struct blocks *blocks)
{
	double drift, limit, most = 0;
	int count = blocks->count - 1, at = -1;

	if (count < 7)
		return -1;
	for (int i = 0; i < count; i++) {
		double ns = blocks->list[i + 1].time - blocks->list[i].time;

		blocks->values[i] =
			(blocks->list[i + 1].ahead - blocks->list[i].ahead) / fmax(ns, 1);
	}
	drift = median(blocks->values, count);
	for (int i = 0; i < count; i++)
		blocks->values[i] = blocks->list[i + 1].ahead - blocks->list[i].ahead -
				    drift * (blocks->list[i + 1].time - blocks->list[i].time);
	for (int i = 2; i < count - 2; i++)
		if (fabs(blocks->values[i]) > most) {
			most = fabs(blocks->values[i]);
			at = i;
		}
	limit = fmax(LEAST_STEP, STEP_NOISE * deviation(blocks->values, count));
	if (at < 0 || most <= limit ||
	    fabs(level(blocks, at + 1, drift) - level(blocks, at - 2, drift)) <= limit)
		return -1;
	return at;
}

/* Between the blocks around the step: where the pairs change from one level to the other. */
static size_t split_at(const struct blocks *blocks, const struct clock_pair *pairs, size_t count,
		       int step)
{
	const struct block *before = &blocks->list[step > 0 ? step - 1 : step];
	const struct block *after = &blocks->list[step + 2 < blocks->count ? step + 2 : step + 1];
	size_t from = count * (step > 0 ? step : 0) / blocks->count;
	size_t to = count * (step + 2) / blocks->count, best = to;
	double cost = 0, least = 0;

	/* How much worse it is that pair k belongs to what is before. */
	for (size_t k = from; k < to; k++) {
		double ahead = pairs[k].ahead - pairs[0].ahead;

		cost += fabs(ahead - before->ahead) - fabs(ahead - after->ahead);
		if (k == from || cost < least) {
			least = cost;
			best = k + 1;
		}
	}
	return best;
}

static void fit_stretch(struct clock_fit *fit, struct blocks *blocks, struct clock_pair *pairs,
			size_t count, double *scratch, int depth)
{
	size_t split = 0;
	int step;

	make_blocks(blocks, pairs, count, scratch);
	step = depth ? find_step(blocks) : -1;
	if (step >= 0)
		split = split_at(blocks, pairs, count, step);
	if (split && split < count) {
		fit_stretch(fit, blocks, pairs, split, scratch, depth - 1);
		fit_stretch(fit, blocks, pairs + split, count - split, scratch, depth - 1);
		return;
	}
	fit_line(&fit->lines[fit->count], blocks, pairs, count, scratch);
	fit->lines[fit->count].from = fit->count ? pairs[0].time : INT64_MIN;
	fit->count++;
}

int clock_fit__make(struct clock_fit *fit, struct clock_pair *pairs, size_t count)
{
	struct blocks *blocks = calloc(1, sizeof(*blocks));
	double *scratch = calloc(count ? count : 1, sizeof(*scratch));

	*fit = (struct clock_fit){};
	if (blocks && scratch && count) {
		qsort(pairs, count, sizeof(*pairs), by_time);
		/* Three times in halves: at most CLOCK_FIT_LINES. */
		fit_stretch(fit, blocks, pairs, count, scratch, 3);
	}
	free(blocks);
	free(scratch);
	return blocks && scratch ? 0 : -ENOMEM;
}

static double ahead_at(const struct clock_line *line, int64_t time)
{
	return line->ahead + line->drift * (double)(time - line->middle);
}

int64_t clock_fit__convert(const struct clock_fit *fit, int64_t time)
{
	const struct clock_line *line = fit->lines;

	while (line + 1 < fit->lines + fit->count && time >= line[1].from)
		line++;
	return fit->count ? time + llround(ahead_at(line, time)) : time;
}

double clock_fit__error(const struct clock_fit *fit)
{
	double error = fit->count ? 0 : -1;

	for (int i = 0; i < fit->count; i++) {
		if (fit->lines[i].error < 0)
			return -1;
		error = fmax(error, fit->lines[i].error);
	}
	return error;
}

int64_t clock_fit__step(const struct clock_fit *fit, int n)
{
	const struct clock_line *line = &fit->lines[n];

	/* The clock is ahead by what the other one is behind. */
	return llround(ahead_at(line - 1, line->from) - ahead_at(line, line->from));
}
