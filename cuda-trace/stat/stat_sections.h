/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sections of `stat`: each writes its part of the text or of the JSON object.
 */
#ifndef CUDA_TRACE_STAT_STAT_SECTIONS_H
#define CUDA_TRACE_STAT_STAT_SECTIONS_H

#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/stat/stat_report.h"

typedef void stat_section(struct sheet *sheet, const struct stat_report *report);

stat_section stat_sections__copies, stat_sections__memory, stat_sections__unified,
	stat_sections__syncs, stat_sections__calls, stat_sections__graphs, stat_sections__errors,
	stat_sections__nvtx, stat_sections__overhead, stat_sections__jit;
/* Kernels by NVTX range. */
stat_section stat_sections__ranges;
stat_section stat_sections__devices, stat_sections__contexts, stat_sections__streams,
	stat_sections__pools, stat_sections__objects_left_out;
/* In which windows it was collected. */
stat_section stat_sections__windows;
/* Where the time went, and advice. */
stat_section stat_sections__time;
/* False: some work was not seen, so nobody knows when GPUs were idle. */
bool stat_sections__idle_is_known(const struct stat_report *report);
/* Shares of GPUs' busy time, by process. */
stat_section stat_sections__shares;
/* Kernels by what launched them (--by). */
stat_section stat_sections__by;
/* Why the GPU was idle. */
stat_section stat_sections__idle;
/* Joules by kernel and process. */
stat_section stat_sections__energy;
/* NCCL's communicators, and which rank is late. */
/* How the sample was taken and what it does not say. */
stat_section stat_sections__sample;

/* Count, total, mean, min and max of a span; places: of these in text. `known`: the times are. */
void stat_sections__span(struct sheet *sheet, const struct stat_span *span, const int places[5],
			 bool known);

#endif
