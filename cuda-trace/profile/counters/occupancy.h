/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a GPU a kernel can keep busy, as Kineto estimates it: from the launch's shape alone.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_OCCUPANCY_H
#define CUDA_TRACE_PROFILE_COUNTERS_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

struct occupancy_launch {
	int64_t blocks, threads; /* of the grid, of a block */
	int64_t registers;	 /* of a thread */
	int64_t shared;		 /* bytes of a block */
};

/* How many blocks fit into a multiprocessor at once, by each of its limits; INT32_MAX is no limit.
 */
struct occupancy {
	int64_t blocks; /* the least of these: */
	int64_t by_warps, by_registers, by_shared, by_blocks;
	int64_t registers, shared; /* what a block is given of each */
	int percent;		   /* of the threads that fit on the GPU */
};

/* What a multiprocessor has, and what a block may have of it. */
struct occupancy_device {
	int64_t threads, blocks, shared;
	int64_t block_shared, block_shared_optin;
};
#define OCCUPANCY_WARP	    32
#define OCCUPANCY_THREADS   1024  /* of a block, on every GPU of these */
#define OCCUPANCY_REGISTERS 65536 /* of a multiprocessor, and of a block */

/* False if nobody knows. `capability` is 90 for 9.0. */
bool occupancy__of(const struct occupancy_launch *launch, int64_t capability,
		   int64_t multiprocessors, struct occupancy *occupancy);
bool occupancy__device(int64_t capability, struct occupancy_device *found);
/* What the number of blocks is limited by: "WARPS|REGS". `text` holds OCCUPANCY_FACTORS. */
#define OCCUPANCY_FACTORS 32
void occupancy__factors(const struct occupancy *occupancy, char *text);

struct occupancy_limit {
	int64_t blocks; /* that fit into a multiprocessor at once */
	double percent; /* of its warps */
	const char *by; /* "registers", "shared memory", "block size"; NULL: all warps fit */
};

/* What of a launch's shape keeps more blocks out; 0, or -1 if nobody knows. */
int occupancy__limit(const struct occupancy_launch *launch, int64_t capability,
		     struct occupancy_limit *limit);

#endif
