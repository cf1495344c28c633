/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formats that Prometheus reads: OpenMetrics 1.0, text format 0.0.4, and, by
 * metrics_protobuf.c, protocol buffers. A family first, then its samples. Knows nothing of CUDA.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_TEXT_H
#define CUDA_TRACE_METRICS_METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

struct metric {
	enum metric_type type;
	const char *name; /* of the family, without _total, _bucket, _info */
	const char *unit; /* the end of the name, or "" */
	const char *help;
};

enum exposition_form {
	EXPOSITION_TEXT, /* format 0.0.4 */
	EXPOSITION_OPENMETRICS,
	EXPOSITION_PROTOBUF,
	EXPOSITION_FORMS
};

struct protobuf;

struct exposition {
	FILE *file;
	bool openmetrics;
	bool created;		     /* not in 0.0.4: when counting began */
	struct protobuf *protobuf;   /* NULL = text; the caller's */
	const struct metric *metric; /* the family that is being written */
	bool announced;		     /* its head was written: only with a first sample */
	uint64_t samples;
};

#define OPENMETRICS_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TEXT_CONTENT_TYPE	 "text/plain; version=0.0.4; charset=utf-8"

#define PROTOBUF_CONTENT_TYPE                                                        \
	"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; " \
	"encoding=delimited"

/* What a client requests in its Accept header (NULL = none). */
enum exposition_form metrics_text__form(const char *accept);

/* A label's value with its quotes: any bytes in, valid UTF-8 out. */
void metrics_text__write_label(FILE *file, const char *value);

/* What follows belongs to this family; without samples it leaves no trace. */
void exposition__family(struct exposition *exposition, const struct metric *metric);
/* labels: rendered, without braces, "" for none. created: Unix seconds, 0 = unknown. */
void exposition__count(struct exposition *exposition, const char *labels, uint64_t value,
		       double created);
void exposition__value(struct exposition *exposition, const char *labels, double value,
		       double created);

/* Cumulative counts at bounds[], then the sum; the last, for +Inf, is `count`. */
struct exposition_histogram {
	const double *bounds;
	const uint64_t *cumulative;
	int count_of_bounds;
	uint64_t count;
	double sum;
	/* How many are in (2^(i-1), 2^i], from i = first_power on; NULL = not known. */
	const uint64_t *powers;
	int power_count, first_power;
};
void exposition__histogram(struct exposition *exposition, const char *labels,
			   const struct exposition_histogram *histogram, double created);
/* Ends the document. */
void exposition__end(struct exposition *exposition);

#endif
