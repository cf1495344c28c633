/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics --energy: joules by label set, and by kernel with --by-kernel; of idle GPUs; and of
 * nobody.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_ENERGY_H
#define CUDA_TRACE_METRICS_METRICS_ENERGY_H

#include "cuda-trace/metrics/metrics_exporter.h"

void metrics_energy__write(struct exposition *exposition, struct exporter_view *view);

#endif
