/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The third format that Prometheus reads: io.prometheus.client.MetricFamily, each after its length.
 * Only this one has native histograms. Used by metrics_text.c.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_PROTOBUF_H
#define CUDA_TRACE_METRICS_METRICS_PROTOBUF_H

#include "cuda-trace/metrics/metrics_text.h"

struct protobuf {
	uint8_t *data;
	size_t size, capacity;
	bool failed;
};

/* A sample of exposition->metric; a family's first one begins it. suffix: of its name. */
void metrics_protobuf__value(struct exposition *exposition, const char *suffix, const char *labels,
			     double value, double created);
void metrics_protobuf__histogram(struct exposition *exposition, const char *labels,
				 const struct exposition_histogram *histogram, double created);
/* Writes the family, if it has samples. */
void metrics_protobuf__end(struct exposition *exposition);

#endif
