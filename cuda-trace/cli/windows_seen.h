/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was seen of a process's ranges, to explain why no window opened. One thread.
 */
#ifndef CUDA_TRACE_CLI_WINDOWS_SEEN_H
#define CUDA_TRACE_CLI_WINDOWS_SEEN_H

#include <stdbool.h>
#include "cuda-trace/cli/window_options.h"

#define WINDOWS_SEEN_OTHERS 4

struct windows_seen {
	bool any;			      /* NVTX range */
	bool begun;			      /* one of this name */
	char others[WINDOWS_SEEN_OTHERS][96]; /* names of ranges that did not match; untrusted */
};

void windows_seen__other(struct windows_seen *seen, const char *name);
/* Why there was no window, and what to do about it, on stderr. */
void windows_seen__say(const struct windows_seen *seen, const struct windows *wanted,
		       const char *command);

#endif
