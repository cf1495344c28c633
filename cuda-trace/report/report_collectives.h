/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rows of a recording are collectives of NCCL that were executed. No state.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_COLLECTIVES_H
#define CUDA_TRACE_REPORT_REPORT_COLLECTIVES_H

#include <stdbool.h>
#include "cuda-trace/report/report_file.h"

/* Were calls of NCCL recorded, even if there were none? False for recordings made before
 * 2026-11-27. */
bool report_collectives__recorded(const struct report_file *file);
/* What to select from: CUDA_TRACE_COLLECTIVES without calls that were captured into a graph. NULL:
 * the recording has no such table. */
const char *report_collectives__executed(const struct report_file *file);

#endif
