/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The windows of one process, from the ranges and calls that open and close them, in any order of
 * arrival. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_PROCESS_WINDOWS_H
#define CUDA_TRACE_CAPTURE_PROCESS_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/base/interval_set.h"
#include "cuda-trace/cli/window_options.h"
#include "libcupti-usdt/probes.h"

#define PROCESS_WINDOWS_OPEN  64 /* ranges of the name, at a time; what is beyond opens nothing */
#define PROCESS_WINDOWS_ENDED 64

struct process_windows {
	struct interval_set set;
	struct window_range {
		uint64_t start, end, range;
		uint32_t tid;
	} open[PROCESS_WINDOWS_OPEN], ended[PROCESS_WINDOWS_ENDED];
	uint32_t open_count;
	uint32_t ended_next; /* ended: a ring of those whose beginning has not come */
	uint64_t latest_end; /* ns, of ranges in the open window that have ended */
	uint64_t stopped;    /* ns, the latest cuProfilerStop() that closed nothing */
	uint64_t steps;	     /* that began */
};

/* Whether a range of this name is one of those; domain "" = the default one, NULL = unknown. */
bool process_windows__is_range(const struct windows *wanted, const char *name, const char *domain);
/* A range of the right name. */
void process_windows__begin(struct process_windows *windows, const struct windows *wanted,
			    const struct cuda_nvtx *range);
void process_windows__end(struct process_windows *windows, const struct windows *wanted,
			  const struct cuda_nvtx *range);
/* A call of this name (NULL: not known) has returned. */
void process_windows__call(struct process_windows *windows, const char *name,
			   const struct cuda_api *call);

#endif
