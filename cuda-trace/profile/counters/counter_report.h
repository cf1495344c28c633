/* SPDX-License-Identifier: BSD-2-Clause */
/* Counted kernels, for people and for programs. */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_COUNTER_REPORT_H
#define CUDA_TRACE_PROFILE_COUNTERS_COUNTER_REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/profile/counters/counter_table.h"

/* The table at the end; `most` kernels, 0 = all. */
void counter_report__text(FILE *file, const struct counter_table *table, uint64_t most);
enum counter_report_what {
	COUNTER_REPORT_KERNELS,
	COUNTER_REPORT_GRAPHS,
	COUNTER_REPORT_INSTRUCTIONS, /* of kernels; of graphs there are none */
};
/* A process, of which that was counted: a line at the end. */
void counter_report__process(struct sheet *sheet, const struct counter_process *process,
			     enum counter_report_what what);
/* JSON: a counted launch, as it comes, with a verdict where it has all metrics. */
void counter_report__kernel(struct sheet *sheet, const struct process *process,
			    const struct cuda_counters *record, const struct counter_kernel *kernel,
			    bool whole);
/* A kernel and shape, of means. */
void counter_report__sum(struct sheet *sheet, const struct counter_table *table,
			 const struct counter_kernel *kernel);

/* Stable key of enum cuda_counters_outcome. */
const char *counter_report__outcome(uint32_t outcome);
/* Why nothing is collected, with how to fix it, on stderr. */
void counter_report__say_failure(const struct counter_process *process);
/* The same of graphs, for metrics that need several passes: the end of a line. */
void counter_report__say_passes(uint32_t passes);

#endif
