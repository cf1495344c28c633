/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NVTX ranges of a file, by thread and time: which were open when a call began.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_RANGES_H
#define CUDA_TRACE_EXPORT_EXPORT_RANGES_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/report/report_file.h"

#define EXPORT_RANGES_DEPTH 64 /* how far outwards anybody looks */
#define NO_RANGE	    SIZE_MAX

struct nvtx_range {
	int64_t global, start, end, name;
	size_t outer; /* the nearest one before that was open when this one began; NO_RANGE */
};

struct nvtx_ranges {
	struct nvtx_range *list;
	size_t count;
	uint64_t left_out; /* a file may have any number of rows */
};

/* Those of these event types ("59, 60"), sorted. 0 or -errno, printed. */
int export_ranges__read(struct nvtx_ranges *ranges, const struct report_file *file,
			const char *types);
/* The last range of the thread that began by then; it or one of its outer ones may be open. */
size_t export_ranges__at(const struct nvtx_ranges *ranges, int64_t global, int64_t time);
void export_ranges__free(struct nvtx_ranges *ranges);

#endif
