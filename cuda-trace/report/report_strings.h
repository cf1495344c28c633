/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * StringIds of a file, in memory: readers go through millions of rows that carry its ids.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_STRINGS_H
#define CUDA_TRACE_REPORT_REPORT_STRINGS_H

#include "cuda-trace/report/report_file.h"

/*
 * By id, NULL where there is none, each as `copy` made it of at most so many bytes. What there is
 * belongs to the caller also on failure: for report_strings__free().
 */
int report_strings__read(const struct report_file *file, char *(*copy)(const char *, size_t),
			 char ***strings, size_t *count);
void report_strings__free(char **strings, size_t count);

#endif
