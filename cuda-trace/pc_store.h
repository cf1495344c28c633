/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `profile --pc --record`: samples as a file for `cuda-trace report`. docs/schema.md has its
 * tables.
 */
#ifndef CUDA_TRACE_PC_STORE_H
#define CUDA_TRACE_PC_STORE_H

#include "cuda-trace/export_stacks.h"
#include "cuda-trace/pc_table.h"
#include "cuda-trace/session.h"

/* In the place of a file of that name once it is whole; 0 or -errno, printed. */
int pc_store__write(const char *path, const struct pc_table *table, const struct stacks *tree,
		    const struct session_lost_counts *lost, uint64_t duration_ns);

#endif
