/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of push_metrics.h as a request of OTLP. */
#ifndef CUDA_TRACE_PUSH_PUSH_OTLP_METRICS_H
#define CUDA_TRACE_PUSH_PUSH_OTLP_METRICS_H

#include "cuda-trace/push/push_labels.h"
#include "cuda-trace/push/push_metrics.h"

/* Of the interval, in ns since 1970; the caller frees the body. 0 or -ENOMEM. */
int push_otlp_metrics__pack(const struct push_metrics *metrics,
			    const struct push_common_labels *labels, uint64_t from, uint64_t until,
			    uint8_t **body, size_t *size);

#endif
