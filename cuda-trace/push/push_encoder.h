/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles as requests: pprof for Pyroscope (one request each) and for Parca, and OTLP (one request
 * with all of an interval). One thread.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_ENCODER_H
#define CUDA_TRACE_PUSH_PUSH_ENCODER_H

#include "cuda-trace/push/push_item.h"
#include "cuda-trace/push/push_labels.h"
#include "cuda-trace/push/push_metrics.h"

enum push_format { PUSH_PPROF, PUSH_PARCA, PUSH_OTLP, PUSH_FORMATS };

struct push_encoder_options {
	enum push_format format;
	const char *path; /* behind the URL; NULL = that of the format */
	const struct push_common_labels *labels;
	void (*put)(void *context, struct push_item *item);
	void *context;
};

struct push_encoder;

/* The word of --format, and the path where such receivers expect profiles. */
const char *push_encoder__path(enum push_format format);
/* PUSH_FORMATS = it is none. */
enum push_format push_encoder__parse(const char *word);

struct push_encoder *push_encoder__new(const struct push_encoder_options *options);
/* An interval, ns since 1970; its profiles; its end. 0 or -errno: then the profile is lost. */
int push_encoder__begin(struct push_encoder *encoder, uint64_t from, uint64_t until);
int push_encoder__add(struct push_encoder *encoder, const struct push_source *source,
		      struct stacks *stacks);
int push_encoder__end(struct push_encoder *encoder);
/* The metrics of the interval, as a request of their own. */
int push_encoder__metrics(struct push_encoder *encoder, const struct push_metrics *metrics);
void push_encoder__free(struct push_encoder *encoder);

#endif
