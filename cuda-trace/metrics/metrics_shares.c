// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shares of GPUs. Called under the exporter's lock.
 */
#include "cuda-trace/metrics/metrics_shares.h"

static void write_share(void *context, struct series *series)
{
	if (series->share_ns > 0)
		exposition__value(context, series->text, series->share_ns / 1e9, series->created);
}

void metrics_shares__write(struct exposition *exposition, struct exporter_view *view)
{
	static const struct metric share = {
		METRIC_COUNTER, "cuda_gpu_share_seconds", "seconds",
		"Share of the time in which the GPU was busy: where several processes had work, an "
		"estimate from the driver's time slices. Some 3 s late."};
	static const struct metric late = {
		METRIC_COUNTER, "cuda_trace_late_share_seconds", "seconds",
		"Time of kernels and copies whose records came when others had their share of it "
		"already."};

	if (view->sample_on_ms)
		return;
	exposition__family(exposition, &share);
	series_table__each(view->series, write_share, exposition);
	exposition__family(exposition, &late);
	exposition__value(exposition, "", view->state.shares.late_ns / 1e9, view->started);
}
