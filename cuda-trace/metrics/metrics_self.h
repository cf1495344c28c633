/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the exporter says of itself, of the machine's devices and of what it cannot see.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_SELF_H
#define CUDA_TRACE_METRICS_METRICS_SELF_H

struct exposition;
struct exporter_view;

void self__write(struct exposition *exposition, struct exporter_view *view);

#endif
