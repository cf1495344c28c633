/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which row of a table a process has: a file may tell of tens of thousands of processes.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_INDEX_H
#define CUDA_TRACE_REPORT_REPORT_INDEX_H

#include "cuda-trace/base/key_index.h"

struct report_file;

/* The first row of each globalPid in a table, by rowid; `most` rows are looked at. 0, or -ENOMEM.
 */
int report_index__read(struct key_index *index, const struct report_file *file, const char *table,
		       uint32_t most);

#endif
