/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading millions of rows: a statement's rows go through an aggregate function of ours, which
 * costs half of fetching them one by one. Used by reports and exports, in any thread that has the
 * file's handle to itself.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_SCAN_H
#define CUDA_TRACE_REPORT_REPORT_SCAN_H

#include "cuda-trace/report/report_file.h"

/* One row; another answer than 0 ends the scan with it. */
typedef int (*scan_row)(void *context, int columns, sqlite3_value **values);

/* 0, what the row function said, or -EIO, printed. Errors of the row function are its to print. */
int scan__run(const struct report_file *file, const char *sql, scan_row take, void *context);

#endif
