/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of `stat`: which calls nobody observed. Where there are such, nothing claims to be complete.
 */
#ifndef CUDA_TRACE_STAT_STAT_OBSERVED_H
#define CUDA_TRACE_STAT_STAT_OBSERVED_H

#include "cuda-trace/stat/stat_report.h"

struct json_object;

/* All calls of all processes that are meant were observed. */
bool stat_observed__all(const struct stat_report *report);
void stat_observed__text(FILE *file, const struct stat_report *report);
/* Each process's `observed_since_ns` (null = from its first call), and `missed`. */
struct json_object *stat_observed__since(const struct stat_process *process);
struct json_object *stat_observed__missed(const struct stat_report *report);

#endif
