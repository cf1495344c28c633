/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of a process, and of all.
 */
#ifndef CUDA_TRACE_STAT_STAT_SUMS_H
#define CUDA_TRACE_STAT_STAT_SUMS_H

#include "cuda-trace/stat/stat_table.h"

void stat_sums__add(struct stat_sums *to, const struct stat_sums *from);
/* Sets those that events are counted in. */
void stat_sums__set_events(struct stat_sums *sums, const struct stat_events *events);

#endif
