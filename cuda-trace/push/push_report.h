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
	const struct callstacks_counts *stacks;
	const struct session_lost_counts *lost;
	const char *format;
	uint32_t period;
	uint64_t unpacked; /* profiles that could not be made */
};

void push_report__text(FILE *file, const struct push_report *report);
void push_report__json(FILE *file, const struct push_report *report);

#endif
