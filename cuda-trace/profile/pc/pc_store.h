/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `profile --pc --record`: samples as a file for `cuda-trace report`. docs/reference/schema.md has
 * its tables.
 */
#ifndef CUDA_TRACE_PROFILE_PC_PC_STORE_H
#define CUDA_TRACE_PROFILE_PC_PC_STORE_H

#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/profile/pc/pc_table.h"
#include "cuda-trace/capture/session.h"

/* In the place of a file of that name once it is whole; 0 or -errno, printed. */
int pc_store__write(const char *path, const struct pc_table *table, const struct stacks *tree,
		    const struct session_lost_counts *lost, uint64_t duration_ns);

#endif
