/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics --counters: what whole GPUs are busy with, by PM sampling. poll() is called by the main
 * loop, write() by any thread; a lock inside keeps them apart.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_DEVICE_H
#define CUDA_TRACE_METRICS_METRICS_DEVICE_H

#include "cuda-trace/profile/device/pm_columns.h"

struct exposition;
struct device_metrics;

/* Forks helper processes: before there are threads. Takes the choice. NULL = there is no memory. */
struct device_metrics *device_metrics__open(struct pm_choice *choice);
void device_metrics__poll(struct device_metrics *metrics);
void device_metrics__write(struct exposition *exposition, struct device_metrics *metrics);
void device_metrics__close(struct device_metrics *metrics);

#endif
