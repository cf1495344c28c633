/* SPDX-License-Identifier: BSD-2-Clause */
/* What `stat --by` found, from whatever recorded it. */
#ifndef CUDA_TRACE_STAT_STAT_BY_H
#define CUDA_TRACE_STAT_STAT_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat_by_row {
	const char *name;
	const char *file; /* of a line: its path, or "" */
	uint64_t ns, count;
	bool found; /* false: "[no operator]" and the like */
};

struct stat_by {
	const char *by;		 /* "operator" */
	uint32_t period;	 /* stacks are of one launch in so many; 0 = none are needed */
	uint64_t launches;	 /* that had a stack, */
	uint64_t incomplete;	 /* and of these, whose stack ends too early */
	const char *stacks;	 /* a line about them; NULL = none are needed */
	const char *unavailable; /* why there are no rows; NULL = there are */
	const char *ended;	 /* a key: why recording ended before stat did; NULL = it did not */
	uint64_t covered_ns;	 /* if so, how long after the start */
	const struct stat_by_row *rows; /* those that were found come first */
	size_t row_count;
};

#endif
