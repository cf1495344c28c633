/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --sample and --max-overhead: which sampling cycle is requested from the agents. The tool's one
 * thread.
 */
#ifndef CUDA_TRACE_CLI_SAMPLE_OPTIONS_H
#define CUDA_TRACE_CLI_SAMPLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/cli/options.h"

struct sample {
	uint32_t on_ms; /* 0 = all the time */
	uint32_t every_ms;
	double max_overhead; /* a part of 1; 0 = the cycle stays */
	bool whole_copies;   /* copies and memsets come all the time */
};

/* Reads ON/PERIOD as the value of `option`; 0, or EXIT_USAGE after a message. */
int sample_options__parse_cycle(const struct option_usage *usage, const char *option,
				const char *text, struct sample *sample);
/* Reads the two options; 0, or EXIT_USAGE after a message. */
int sample_options__parse(const struct option_usage *usage, const char *cycle,
			  const char *max_overhead, struct sample *sample);
/* Those of a command that reads `groups`: none where nothing of them can be sampled. */
int sample_options__choose(const struct option_usage *usage, const struct options *options,
			   uint32_t groups, struct sample *sample);
/* What to listen to instead: kernels, copies, memsets of windows. */
uint32_t sample_options__groups(const struct sample *sample, uint32_t groups);
/* The longest window that is not longer, the shortest if there is none; 0 = `ms` is one. */
uint32_t sample_options__window(double ms);

#endif
