/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_STAT_STAT_ORIGINS_H
#define CUDA_TRACE_STAT_STAT_ORIGINS_H

struct stat_table;

/* Names of containers that were not known yet when their processes started; waits a moment. */
void stat_origins__find(struct stat_table *table);

#endif
