// SPDX-License-Identifier: BSD-2-Clause
/*
 * All families are some 11 s late, and together: what the meters counted is the sum of the others,
 * except for what waits for the labels of a process that has just begun. Under the exporter's lock.
 */
#include "cuda-trace/metrics/metrics_energy.h"

#include <stdio.h>
#include "cuda-trace/live/live_energy.h"

#define LABELS_MAX 1400

static void put_series(void *context, struct series *series)
{
	if (series->joules > 0)
		exposition__value(context, series->text, series->joules, series->created);
}

static void put_kernel(void *context, const char *labels, const struct kernel_sums *sums)
{
	if (sums->joules > 0)
		exposition__value(context, labels, sums->joules, sums->created);
}

static void put_unnamed(void *context, struct series *series)
{
	char labels[LABELS_MAX];

	if (series->unnamed_joules <= 0)
		return;
	snprintf(labels, sizeof(labels), "%s%skernel=\"other\"", series->text,
		 *series->text ? "," : "");
	exposition__value(context, labels, series->unnamed_joules, series->created);
}

static void put_meters(struct exposition *exposition, const struct exporter_view *view,
		       const struct metric *metric, size_t offset)
{
	const struct live_energy_state *energy = &view->energy_state;

	exposition__family(exposition, metric);
	for (uint32_t i = 0; i < energy->count; i++) {
		const uint8_t *uuid = energy->meters[i].uuid;
		char labels[64];
		int used = snprintf(labels, sizeof(labels), "uuid=\"GPU-");

		for (int byte = 0; byte < 16; byte++)
			used += snprintf(labels + used, sizeof(labels) - used, "%s%02x",
					 byte == 4 || byte == 6 || byte == 8 || byte == 10 ? "-"
											   : "",
					 uuid[byte]);
		snprintf(labels + used, sizeof(labels) - used, "\"");
		exposition__value(exposition, labels,
				  *(const double *)((const char *)&energy->meters[i] + offset),
				  view->started);
	}
}

void metrics_energy__write(struct exposition *exposition, struct exporter_view *view)
{
	static const struct metric joules = {METRIC_COUNTER, "cuda_energy_joules", "joules",
					     "Estimated energy of kernels and copies, from the "
					     "meters of the GPUs. Some 11 s late."};
	static const struct metric idle = {
		METRIC_COUNTER, "cuda_energy_idle_joules", "joules",
		"Energy of the GPU while nothing ran on it that is traced."};
	static const struct metric nobodys = {METRIC_COUNTER, "cuda_energy_unattributed_joules",
					      "joules", "Energy that could not be attributed."};
	static const struct metric meter = {
		METRIC_COUNTER, "cuda_energy_meter_joules", "joules",
		"What the meter of the GPU counted: the sum of cuda_energy_joules_total, "
		"cuda_energy_idle_joules_total and cuda_energy_unattributed_joules_total."};
	static const struct metric failed = {METRIC_COUNTER, "cuda_trace_failed_energy_readings",
					     "", "Readings of energy meters that failed."};

	if (!view->energy)
		return;
	live_energy__state(view->energy, &view->energy_state);
	exposition__family(exposition, &joules);
	if (view->kernels) {
		kernels__each(view->kernels, put_kernel, exposition);
		series_table__each(view->series, put_unnamed, exposition);
	} else {
		series_table__each(view->series, put_series, exposition);
	}
	put_meters(exposition, view, &idle, offsetof(struct live_energy_meter, idle));
	put_meters(exposition, view, &nobodys, offsetof(struct live_energy_meter, unattributed));
	put_meters(exposition, view, &meter, offsetof(struct live_energy_meter, meter));
	exposition__family(exposition, &failed);
	exposition__count(exposition, "", view->energy_state.failed, view->started);
}
