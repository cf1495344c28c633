/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of one statement, read ahead by a thread with a handle of its own, so that several big
 * tables can be gone through side by side and at once. Integers only.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_READER_H
#define CUDA_TRACE_REPORT_REPORT_READER_H

#include "cuda-trace/report/report_file.h"

struct reader;

/* -ENOENT if the statement does not fit the file; other errors are printed. */
int reader__open(struct reader **reader, const struct report_file *file, const char *sql);
/* The next row's columns, valid until the next call; NULL is 0. Without more rows, or after an
 * error, NULL. */
const int64_t *reader__next(struct reader *reader);
/* What went wrong, printed where it did; 0 = nothing. */
int reader__close(struct reader *reader);

#endif
