/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_STAT_STAT_KILLED_H
#define CUDA_TRACE_STAT_STAT_KILLED_H

#include <stdbool.h>

struct process;
struct stat_sums;

/* A killed process takes the records of its last kernels with it. Where these are more than one in
 * a hundred, a GPU that seems idle proves nothing. */
bool stat_killed__is_unknown(const struct process *process, const struct stat_sums *sums);

#endif
