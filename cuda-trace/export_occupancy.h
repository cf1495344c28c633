/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a GPU a kernel can keep busy, as Kineto estimates it: from the launch's shape alone.
 */
#ifndef CUDA_TRACE_EXPORT_OCCUPANCY_H
#define CUDA_TRACE_EXPORT_OCCUPANCY_H

#include <stdint.h>

struct occupancy_launch {
	int64_t blocks, threads; /* of the grid, of a block */
	int64_t registers;	 /* of a thread */
	int64_t shared;		 /* bytes of a block */
};

/* Percent of the threads that the GPU's multiprocessors have room for; -1 if nobody knows.
 * `capability` is 90 for 9.0. */
int occupancy__percent(const struct occupancy_launch *launch, int64_t capability,
		       int64_t multiprocessors);

struct occupancy_limit {
	int64_t blocks; /* that fit into a multiprocessor at once */
	double percent; /* of its warps */
	const char *by; /* "registers", "shared memory", "block size"; NULL: all warps fit */
};

/* What of a launch's shape keeps more blocks out; 0, or -1 if nobody knows. */
int occupancy__limit(const struct occupancy_launch *launch, int64_t capability,
		     struct occupancy_limit *limit);

#endif
