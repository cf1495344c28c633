/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that copy, set or prefetch memory and failed, by what their names say. */
#ifndef CUDA_TRACE_METRICS_METRICS_FAILED_H
#define CUDA_TRACE_METRICS_METRICS_FAILED_H

#include <stdint.h>
#include "cuda-trace/live/live_sums.h"

struct exporter_view;
struct exposition;

struct failed_calls {
	uint64_t copies[SUMS_DIRECTION_COUNT];
	uint64_t sets;
	uint64_t prefetches; /* and discards, decompressions */
};

/* name: of the function, NULL = not known. */
void failed_calls__add(struct failed_calls *failed, const char *name, uint64_t count);
void failed_calls__write(struct exposition *exposition, struct exporter_view *view);

#endif
