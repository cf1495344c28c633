/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sums mean: each line of advice is computed, and names its numbers.
 */
#ifndef CUDA_TRACE_STAT_STAT_ADVICE_H
#define CUDA_TRACE_STAT_STAT_ADVICE_H

#include "cuda-trace/stat/stat_table.h"

#define STAT_MAX_ADVICE 8

/* Fills at most STAT_MAX_ADVICE lines; how many. No text of the traced program is in them. */
int stat_advice__lines(const struct stat_table *table, char lines[STAT_MAX_ADVICE][256]);
uint64_t stat_advice__overlap(const struct stat_time_sums *time);
uint64_t stat_advice__idle(const struct stat_time_sums *time);

#endif
