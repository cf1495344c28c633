/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * %p, %h, %r and %c in the name of an output, so that several ranks that run one command line write
 * a file each.
 */
#ifndef CUDA_TRACE_CLI_OUTPUT_PATTERN_H
#define CUDA_TRACE_CLI_OUTPUT_PATTERN_H

#include "cuda-trace/cli/options.h"

#define OUTPUT_PATTERN_HELP "%p (this recorder's process), %h (host), %r (rank), %c (command)"

/* Replaces *path, if it has patterns, by a name that lives as long as the tool. 0, or EXIT_USAGE
 * after naming the pattern that is not known, or has no value here. */
int output_pattern__expand(const struct option_usage *usage, const struct options *options,
			   const char **path);

#endif
