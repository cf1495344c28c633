/* SPDX-License-Identifier: BSD-2-Clause */
/* In which windows a command collected, where that was not all the time: text and JSON. */
#ifndef CUDA_TRACE_CLI_WINDOWS_SECTION_H
#define CUDA_TRACE_CLI_WINDOWS_SECTION_H

#include <stdint.h>
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/cli/window_options.h"

/* What became of it, of all processes together. */
struct collection_counts {
	uint64_t windows, window_ns; /* of several processes at a time: once */
	uint64_t open;		     /* windows that were open when their process, or all, ended */
	uint64_t placed;    /* GPU records whose call did not come: placed by their start */
	uint64_t processes; /* that had a window */
	uint64_t bursts;    /* of PC samples, in a window */
	uint64_t cut;	    /* bursts that were in one only in part, and left out */
};

/* As `collected`; null without windows (NULL). With PC samples also their bursts. */
void windows_section__put(struct sheet *sheet, const struct windows *windows,
			  const struct collection_counts *counts, bool pc);

#endif
