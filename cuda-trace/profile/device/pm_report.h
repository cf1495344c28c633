/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile --device: a line an interval and GPU, and a summary, for people or as JSON.
 */
#ifndef CUDA_TRACE_PROFILE_DEVICE_PM_REPORT_H
#define CUDA_TRACE_PROFILE_DEVICE_PM_REPORT_H

#include <stdio.h>
#include "cuda-trace/profile/device/pm_table.h"

struct pm_report {
	FILE *file;
	const struct pm_choice *choice;
	uint64_t began; /* CLOCK_MONOTONIC ns; times of rows count from it */
	bool json;
	bool fine;	   /* times in ms */
	bool lines;	   /* draw values over time, in UTF-8 */
	unsigned int rows; /* since the last heading */
};

void pm_report__row(struct pm_report *report, const struct pm_device *device,
		    const struct pm_row *row);
void pm_report__summary(struct pm_report *report, const struct pm_device *device,
			const struct pm_table *table);

#endif
