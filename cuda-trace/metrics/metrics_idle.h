/* SPDX-License-Identifier: BSD-2-Clause */
/* --idle: why GPUs were idle. Called under the exporter's lock. */
#ifndef CUDA_TRACE_METRICS_METRICS_IDLE_H
#define CUDA_TRACE_METRICS_METRICS_IDLE_H

#include "cuda-trace/metrics/metrics_text.h"

struct idle;

/* idle NULL: nothing. started: Unix seconds. */
void metrics_idle__write(struct exposition *exposition, struct idle *idle, double started);

#endif
