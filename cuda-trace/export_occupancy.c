// SPDX-License-Identifier: BSD-2-Clause
/*
 * Limits of a multiprocessor by compute capability: CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability". Registers are given to warps in units of 256, from four
 * parts of 16,384; shared memory in units of 128 bytes, from 8.0 on with 1 KiB of the system's own.
 */
#include "cuda-trace/export_occupancy.h"
#include <stddef.h>

#define WARP	       32
#define PARTS	       4
#define PART_REGISTERS 16384
#define REGISTER_UNIT  256
#define SHARED_UNIT    128

static const struct limits {
	int capability, warps, blocks, shared_kib, reserved;
} limits[] = {
	{70, 64, 32, 96, 0},	  {72, 64, 32, 96, 0},	    {75, 32, 16, 64, 0},
	{80, 64, 32, 164, 1024},  {86, 48, 16, 100, 1024},  {87, 48, 16, 164, 1024},
	{89, 48, 24, 100, 1024},  {90, 64, 32, 228, 1024},  {100, 64, 32, 228, 1024},
	{103, 64, 32, 228, 1024}, {120, 48, 24, 100, 1024},
};

static const struct limits *limits_of(int64_t capability)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].capability == capability)
			return &limits[i];
	return NULL;
}

static int64_t round_up(int64_t number, int64_t unit)
{
	return (number + unit - 1) / unit * unit;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Blocks that fit into a multiprocessor at once. */
static int64_t fitting(const struct occupancy_launch *launch, const struct limits *limit)
{
	int64_t warps = round_up(launch->threads, WARP) / WARP;
	int64_t blocks = least(limit->blocks, limit->warps / warps);
	int64_t shared = round_up(launch->shared + limit->reserved, SHARED_UNIT);

	if (launch->registers > 0) {
		int64_t each = round_up(launch->registers * WARP, REGISTER_UNIT);

		blocks = least(blocks, PART_REGISTERS / each * PARTS / warps);
	}
	return shared > 0 ? least(blocks, limit->shared_kib * 1024 / shared) : blocks;
}

int occupancy__percent(const struct occupancy_launch *launch, int64_t capability,
		       int64_t multiprocessors)
{
	const struct limits *limit = limits_of(capability);
	double blocks;

	/* What no launch can have comes from a damaged file. */
	if (!limit || multiprocessors <= 0 || launch->blocks <= 0 || launch->threads <= 0 ||
	    launch->threads > 1024 || launch->registers < 0 || launch->registers > 255 ||
	    launch->shared < 0 || launch->shared > 1 << 20)
		return -1;
	blocks = (double)launch->blocks / multiprocessors;
	if (blocks > fitting(launch, limit))
		blocks = fitting(launch, limit);
	return 0.5 + 100 * blocks * launch->threads / (limit->warps * WARP);
}
