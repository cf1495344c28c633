/* SPDX-License-Identifier: BSD-2-Clause */
/* What push says at its end: what was sent, and what was lost. */
#ifndef CUDA_TRACE_PUSH_PUSH_REPORT_H
#define CUDA_TRACE_PUSH_PUSH_REPORT_H

#include <stdio.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/push/push_item.h"
#include "cuda-trace/push/push_profile.h"

struct push_report {
	const struct push_counts *counts;
	const struct push_profile_counts *seen;
	const struct push_stall_counts *stalls;
	const struct callstacks_counts *stacks;
	const struct session_lost_counts *lost;
	const char *format;
	uint32_t period;
	bool samples; /* the profiles are of PC samples */
};

/* Why nearly all samples are of other kernels; NULL = they are not. */
const char *push_report__note(const struct push_stall_counts *counts);
void push_report__text(FILE *file, const struct push_report *report);
void push_report__json(FILE *file, const struct push_report *report);

#endif
