/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --range, --profiler-api, --step-range, --skip-steps, --steps: in which windows of a process a
 * command collects. The tool's one thread.
 */
#ifndef CUDA_TRACE_CLI_WINDOW_OPTIONS_H
#define CUDA_TRACE_CLI_WINDOW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/cli/options.h"

#define WINDOWS_TORCH_STEPS "ProfilerStep#*"

enum windows_by {
	WINDOWS_ALWAYS,	  /* everything is collected */
	WINDOWS_RANGE,	  /* while an NVTX range is open */
	WINDOWS_STEPS,	  /* from the beginning of an NVTX range to the end of another one */
	WINDOWS_PROFILER, /* between cuProfilerStart() and cuProfilerStop() */
};

struct windows {
	enum windows_by by;
	char name[256];	     /* of the range, a pattern of fnmatch(3) */
	char domain[256];    /* of the range, likewise */
	bool any_domain;     /* or none */
	uint64_t skip, most; /* ranges that come before the first window; windows; 0 = no limit */
	uint32_t groups;     /* what is needed for it and was not requested */
};

/* Reads the options of a command that collects `groups`; 0, or EXIT_USAGE after a message. Add
 * windows->groups to the groups. */
int window_options__choose(const struct option_usage *usage, const struct options *options,
			   uint32_t groups, struct windows *windows);

/* "NAME[@DOMAIN]" of that option into the name and domain of `windows`; as above. */
int window_options__parse_range(const struct option_usage *usage, const char *option,
				const char *text, struct windows *windows);

/* As options, on one line; NULL without windows. To be freed. */
char *window_options__describe(const struct windows *windows);

#endif
