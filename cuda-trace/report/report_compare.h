/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --compare: what got slower between two recordings, line by line of each table.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_COMPARE_H
#define CUDA_TRACE_REPORT_REPORT_COMPARE_H

#include <stdio.h>
#include "cuda-trace/report/report_file.h"
#include "cuda-trace/report/report_output.h"

struct report_compare_options {
	enum report_format format;
	int64_t limit; /* lines a table; 0 = all */
	/* Is this table of kernels, copies, api and sync wanted? */
	bool (*wanted)(const void *context, const char *table);
	const void *context;
};

/* 0 or -errno, printed. */
int report_compare__write(const struct report_file *before, const struct report_file *after,
			  const struct report_compare_options *options, FILE *out);

#endif
