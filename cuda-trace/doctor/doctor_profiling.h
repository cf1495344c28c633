/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands between `cuda-trace profile` and the GPU's counters; tracing needs none of it. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_PROFILING_H
#define CUDA_TRACE_DOCTOR_DOCTOR_PROFILING_H

#include <stdint.h>
#include "cuda-trace/inventory/filetree.h"

struct choice;
struct libraries;
struct findings;

/* Of this machine and this user; the tree must be the machine's own. */
void profiling__report(struct filetree *tree, struct findings *findings);
/* Whether that process may be profiled; the tree as above. */
void profiling__report_process(struct filetree *tree, uint32_t pid, struct findings *findings);
/* What the libcupti that the agent uses lacks for it, in any tree. */
void profiling__report_library(const struct libraries *libraries, const struct choice *choice,
			       struct findings *findings);

#endif
