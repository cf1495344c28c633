/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --merge.
 */
#ifndef CUDA_TRACE_COMMANDS_REPORT_MERGE_H
#define CUDA_TRACE_COMMANDS_REPORT_MERGE_H

#include <stdbool.h>
#include <stdint.h>

struct report_merge {
	const char *output, *timeline; /* NULL = stdout; none */
	const char *range;	       /* what an iteration is */
	bool json;
	uint64_t most; /* rows of a table */
};

/* Files and folders, up to a NULL. The exit status; errors are printed. */
int report_merge__run(const struct report_merge *options, char **paths);

#endif
