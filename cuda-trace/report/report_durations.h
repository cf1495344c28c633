/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many durations in little memory: exact count, sum, least, greatest and deviation, and a histogram
 * with 64 steps an octave, so that a quantile read from it is within 0.8 % of the true one.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_DURATIONS_H
#define CUDA_TRACE_REPORT_REPORT_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#define DURATIONS_STEPS 3840 /* buckets: 64 each for 0-63, 64-127, 128-255 ... */

struct durations {
	uint64_t count, sum, least, greatest;
	double mean, squares; /* Welford's */
	uint32_t first, used; /* the buckets kept: [first, first + used) */
	uint64_t *buckets;
};

int durations__add(struct durations *durations, uint64_t ns);
double durations__deviation(const struct durations *durations);
/* The value below which the share `q` (0 to 1) lies; 0 without any. */
uint64_t durations__quantile(const struct durations *durations, double q);
/* Bucket of a value, and the least value of a bucket. */
uint32_t durations__bucket(uint64_t ns);
uint64_t durations__floor(uint32_t bucket);
void durations__free(struct durations *durations);

/*
 * Mann-Whitney U test with correction for ties: the two-sided probability that a difference as
 * large as this one comes about by chance. *superior: the share of pairs in which b is greater.
 * For few or one-valued samples 1.
 */
double durations__compare(const struct durations *a, const struct durations *b, double *superior);

#endif
