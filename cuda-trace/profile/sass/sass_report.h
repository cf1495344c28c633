/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of `profile --sass` for people, or as one line of JSON a function. */
#ifndef CUDA_TRACE_PROFILE_SASS_SASS_REPORT_H
#define CUDA_TRACE_PROFILE_SASS_SASS_REPORT_H

#include <stdio.h>
#include "cuda-trace/profile/sass/sass_table.h"

/* A sorted table; `most` functions, and as many lines in each as fit a screen. */
void sass_report__text(FILE *file, const struct sass_table *table, uint64_t most);
void sass_report__json(FILE *file, const struct sass_table *table);

#endif
