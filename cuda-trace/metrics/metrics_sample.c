// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cycle, and the error of each label set's GPU time.
 */
#include "cuda-trace/metrics/metrics_sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct metric share = {METRIC_GAUGE, "cuda_trace_sample_share", "",
				    "Part of the time in which GPU times are taken."};
static const struct metric part = {
	METRIC_GAUGE, "cuda_trace_sample_overhead_ratio", "",
	"Part of the time by which GPU times make launches slower, as measured."};
static const struct metric error = {
	METRIC_GAUGE, "cuda_kernel_duration_error_seconds", "seconds",
	"Sampling error of the sum of cuda_kernel_duration_seconds: two standard errors, at most."};

bool metrics_sample__estimates(const struct exporter_view *view, const char *family)
{
	static const char *const kernels[] = {"cuda_kernel_duration_seconds",
					      "cuda_gpu_busy_seconds"};
	static const char *const copies[] = {
		"cuda_memcpy_copies",		"cuda_memcpy_bytes",
		"cuda_memcpy_duration_seconds", "cuda_memcpy_busy_seconds",
		"cuda_memset_operations",	"cuda_memset_bytes",
		"cuda_memset_seconds",
	};

	for (size_t i = 0; view->sample_on_ms && i < COUNT(kernels); i++)
		if (!strcmp(family, kernels[i]))
			return true;
	for (size_t i = 0; view->sample_on_ms && !view->whole_copies && i < COUNT(copies); i++)
		if (!strcmp(family, copies[i]))
			return true;
	return false;
}

static void write_error(void *context, struct series *series)
{
	char labels[1400];

	if (!series->sums.kernels.count)
		return;
	snprintf(labels, sizeof(labels), "%s" METRICS_ESTIMATED, series->text);
	exposition__value(context, labels, 2 * sqrt(series->kernel_variance) / 1e9, 0);
}

void metrics_sample__write(struct exposition *exposition, struct exporter_view *view)
{
	if (!view->sample_on_ms)
		return;
	exposition__family(exposition, &share);
	exposition__value(exposition, "", (double)view->sample_on_ms / view->sample_every_ms, 0);
	if (view->limited) {
		exposition__family(exposition, &part);
		exposition__value(exposition, "", view->overhead.part, 0);
	}
	exposition__family(exposition, &error);
	series_table__each(view->series, write_error, exposition);
}
