/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as Parquet files: one for each of its tables, and some in which ids are resolved.
 */
#ifndef CUDA_TRACE_COLUMNS_COLUMNS_H
#define CUDA_TRACE_COLUMNS_COLUMNS_H

#include "cuda-trace/report/report_file.h"

/* Writes PATH/TABLE.parquet. 0, or -errno after a message. */
int columns__export(const struct report_file *file, const char *path);

#endif
