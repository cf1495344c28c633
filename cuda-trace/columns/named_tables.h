/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files beside those of tables, for who reads one file: names instead of ids, pid and tid,
 * duration.
 */
#ifndef CUDA_TRACE_COLUMNS_NAMED_TABLES_H
#define CUDA_TRACE_COLUMNS_NAMED_TABLES_H

#include "cuda-trace/columns/parquet_folder.h"
#include "cuda-trace/report/report_file.h"

/* True for the names of these files, in any case: some file systems do not distinguish it. */
bool named_tables__has(const char *name);
/* 0, or -errno after a message. */
int named_tables__export(const struct report_file *file, struct parquet_folder *folder);

#endif
