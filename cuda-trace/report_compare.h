/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --compare: what got slower between two recordings, kernel by kernel.
 */
#ifndef CUDA_TRACE_REPORT_COMPARE_H
#define CUDA_TRACE_REPORT_COMPARE_H

#include <stdio.h>
#include "cuda-trace/report_file.h"
#include "cuda-trace/report_output.h"

/* 0 or -errno, printed. */
int report_compare__write(const struct report_file *before, const struct report_file *after,
			  FILE *out, enum report_format format, int64_t limit);

#endif
