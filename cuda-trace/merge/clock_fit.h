/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How one clock relates to another, from pairs of readings at moments that were nearly the same:
 * robust lines, one for each stretch between steps of the clock. docs/internals/merge.md says what
 * can go wrong.
 */
#ifndef CUDA_TRACE_MERGE_CLOCK_FIT_H
#define CUDA_TRACE_MERGE_CLOCK_FIT_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_FIT_LINES 8

struct clock_pair {
	int64_t time;  /* of the clock, ns */
	int64_t ahead; /* what the other one showed, less `time` */
};

/* The other clock shows time + ahead + drift * (time - middle). */
struct clock_line {
	int64_t from; /* times of the clock before that belong to the line before */
	int64_t middle;
	double ahead, drift;
	double error;  /* ns: two standard errors at the worse end; below 0 = unknown */
	double spread; /* ns: how far the pairs typically are from the line */
	size_t pairs;
};

struct clock_fit {
	int count; /* 0 = no pairs */
	struct clock_line lines[CLOCK_FIT_LINES];
};

/* Sorts the pairs. 0 or -ENOMEM. */
int clock_fit__make(struct clock_fit *fit, struct clock_pair *pairs, size_t count);
/* A time of the clock as the other clock shows it. */
int64_t clock_fit__convert(const struct clock_fit *fit, int64_t time);
/* The largest error of the lines; below 0 = unknown. */
double clock_fit__error(const struct clock_fit *fit);
/* By how much the clock steps at the beginning of line n, from 1. */
int64_t clock_fit__step(const struct clock_fit *fit, int n);

#endif
