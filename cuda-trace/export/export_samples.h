/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of whole GPUs (report --device) for the page: a lane for each column of each GPU, with
 * the same axis of time as the lanes of kernels.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_SAMPLES_H
#define CUDA_TRACE_EXPORT_EXPORT_SAMPLES_H

#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/export/export_names.h"
#include "cuda-trace/report/report_file.h"

/* The JSON object of what lies between begin and end. 0, or -errno, printed. */
int export_samples__put(FILE *out, const struct report_file *file, struct names_of_file *names,
			int64_t begin, int64_t end);

#endif
