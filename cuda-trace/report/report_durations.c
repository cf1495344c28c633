// SPDX-License-Identifier: BSD-2-Clause
/* Durations in logarithmic buckets. */
#include "cuda-trace/report/report_durations.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t durations__bucket(uint64_t ns)
{
	int shift = ns < 64 ? 0 : 58 - __builtin_clzll(ns) - 1;

	if (ns < 64)
		return ns;
	/* 64..127 → shift 0, 128..255 → shift 1 ...: 64 steps each. */
	return 64 + shift * 64 + ((ns >> shift) - 64);
}

uint64_t durations__floor(uint32_t bucket)
{
	uint32_t octave = bucket / 64;

	if (octave < 1)
		return bucket;
	return (uint64_t)(64 + bucket % 64) << (octave - 1);
}

/* Space for `bucket`, growing towards both sides: most kernels need a few dozen of them. */
static int make_space(struct durations *durations, uint32_t bucket)
{
	uint32_t first = durations->first, end = durations->first + durations->used;
	uint64_t *buckets;

	if (durations->used && bucket >= first && bucket < end)
		return 0;
	if (!durations->used) {
		first = bucket & ~15u;
		end = first + 16;
	} else if (bucket < first) {
		first = bucket & ~15u;
	} else {
		end = (bucket | 15) + 1;
	}
	buckets = calloc(end - first, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	if (durations->used)
		memcpy(buckets + (durations->first - first), durations->buckets,
		       durations->used * sizeof(*buckets));
	free(durations->buckets);
	durations->buckets = buckets;
	durations->first = first;
	durations->used = end - first;
	return 0;
}

int durations__add(struct durations *durations, uint64_t ns)
{
	uint32_t bucket = durations__bucket(ns);
	double delta;
	int err = make_space(durations, bucket);

	if (err)
		return err;
	durations->buckets[bucket - durations->first]++;
	if (!durations->count || ns < durations->least)
		durations->least = ns;
	if (ns > durations->greatest)
		durations->greatest = ns;
	durations->count++;
	if (__builtin_add_overflow(durations->sum, ns, &durations->sum))
		durations->sum = UINT64_MAX;
	delta = ns - durations->mean;
	durations->mean += delta / durations->count;
	durations->squares += delta * (ns - durations->mean);
	return 0;
}

double durations__deviation(const struct durations *durations)
{
	return durations->count > 1 ? sqrt(durations->squares / (durations->count - 1)) : 0;
}

uint64_t durations__quantile(const struct durations *durations, double q)
{
	uint64_t rank = q * (durations->count ? durations->count - 1 : 0), seen = 0;

	for (uint32_t i = 0; i < durations->used; i++) {
		uint32_t bucket = durations->first + i;
		uint64_t low = durations__floor(bucket), value;

		seen += durations->buckets[i];
		if (seen <= rank)
			continue;
		value = low + (durations__floor(bucket + 1) - low) / 2;
		/* The middle of the last bucket may lie beyond what was ever seen. */
		return value < durations->least	     ? durations->least
		       : value > durations->greatest ? durations->greatest
						     : value;
	}
	return 0;
}

void durations__free(struct durations *durations)
{
	free(durations->buckets);
	durations->buckets = NULL;
}

static uint64_t in_bucket(const struct durations *durations, uint32_t bucket)
{
	if (bucket < durations->first || bucket >= durations->first + durations->used)
		return 0;
	return durations->buckets[bucket - durations->first];
}

double durations__compare(const struct durations *a, const struct durations *b, double *superior)
{
	double na = a->count, nb = b->count, n = na + nb, below = 0, u = 0, ties = 0, sigma;

	*superior = 0.5;
	if (na < 8 || nb < 8)
		return 1;
	for (uint32_t i = 0; i < DURATIONS_STEPS; i++) {
		double x = in_bucket(a, i), y = in_bucket(b, i), t = x + y;

		u += y * (below + x / 2);
		ties += t * t * t - t;
		below += x;
	}
	*superior = u / (na * nb);
	sigma = sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
	if (!(sigma > 0))
		return 1;
	return erfc(fabs(u - na * nb / 2) / sigma / M_SQRT2);
}
