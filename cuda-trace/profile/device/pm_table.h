/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of one GPU summed up: over an interval, and over all. Bounded whatever the length. One
 * thread.
 */
#ifndef CUDA_TRACE_PROFILE_DEVICE_PM_TABLE_H
#define CUDA_TRACE_PROFILE_DEVICE_PM_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/profile/device/pm_source.h"

#define PM_BINS	  101 /* percent */
#define PM_POINTS 80  /* of a line over all the time */

struct pm_cell {
	double sum; /* value x ns */
	double least, most;
};

struct pm_row {
	uint64_t start, end; /* of the first and the last sample */
	uint64_t ns;	     /* that samples cover */
	uint64_t samples, lost;
	struct pm_cell cells[PM_COLUMNS];
};

struct pm_table {
	struct pm_row row; /* the interval that is being filled */
	struct pm_row all;
	uint64_t lost_seen; /* of the device's, in earlier rows */
	/* ns by percent, for those that are ratios */
	uint64_t bins[PM_COLUMNS][PM_BINS];
	/* each over point_ns, which doubles when all points are used */
	struct pm_cell points[PM_COLUMNS][PM_POINTS];
	uint64_t point_time[PM_POINTS];
	uint64_t point_ns;
};

/* Ratios become parts of 1. */
void pm_table__scale(const struct pm_choice *choice, struct pm_sample *sample);
void pm_table__add(struct pm_table *table, const struct pm_choice *choice,
		   const struct pm_sample *sample);
/* Ends the interval: what it was is in *row. */
void pm_table__next(struct pm_table *table, uint64_t lost, struct pm_row *row);
double pm_row__mean(const struct pm_row *row, unsigned int column);
/* The value below which a column of ratios was for this part of the time. */
double pm_table__quantile(const struct pm_table *table, unsigned int column, double part);
/* The mean in the n-th of `count` equal parts of the time; NAN where there is no sample. */
double pm_table__point(const struct pm_table *table, unsigned int column, unsigned int n,
		       unsigned int count);

#endif
