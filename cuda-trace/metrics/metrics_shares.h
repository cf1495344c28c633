/* SPDX-License-Identifier: BSD-2-Clause */
/* Each label set's share of the time in which GPUs were busy: docs/reference/sharing.md. */
#ifndef CUDA_TRACE_METRICS_METRICS_SHARES_H
#define CUDA_TRACE_METRICS_METRICS_SHARES_H

#include "cuda-trace/metrics/metrics_exporter.h"

/* Nothing where GPU times are a sample. */
void metrics_shares__write(struct exposition *exposition, struct exporter_view *view);

#endif
