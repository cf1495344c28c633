/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of `stat`: which calls nobody observed. Where there are such, nothing claims to be complete.
 */
#ifndef CUDA_TRACE_STAT_STAT_OBSERVED_H
#define CUDA_TRACE_STAT_STAT_OBSERVED_H

#include "cuda-trace/stat/stat_sections.h"

/* All calls of all processes that are meant were observed. */
bool stat_observed__all(const struct stat_report *report);
/* Each process's `observed_since_ns`; none = from its first call. */
struct cell stat_observed__since(const struct stat_process *process);
/* The section about processes and calls that nobody observed. */
stat_section stat_observed__missed;

#endif
