/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics --sample: what the estimates rest on. Called under the exporter's lock.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_SAMPLE_H
#define CUDA_TRACE_METRICS_METRICS_SAMPLE_H

#include "cuda-trace/metrics/metrics_exporter.h"

/* The label of every sample that is an estimate, behind others. */
#define METRICS_ESTIMATED ",estimated=\"true\""

/* Whether a family comes of records that --sample takes in windows. */
bool metrics_sample__estimates(const struct exporter_view *view, const char *family);
/* Writes nothing where GPU records come all the time. */
void metrics_sample__write(struct exposition *exposition, struct exporter_view *view);

#endif
