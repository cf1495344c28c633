/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_STAT_STAT_KILLED_H
#define CUDA_TRACE_STAT_STAT_KILLED_H

#include <stdbool.h>

struct process;
struct stat_sums;

/* process__lost_kernels(), of these sums. */
bool stat_killed__is_unknown(const struct process *process, const struct stat_sums *sums);

#endif
