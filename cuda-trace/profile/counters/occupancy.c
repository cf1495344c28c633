// SPDX-License-Identifier: BSD-2-Clause
/*
 * Limits of a multiprocessor by compute capability: CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability". Registers are given to warps in units of 256, from four
 * parts of 16,384; shared memory in units of 128 bytes, from 8.0 on with 1 KiB of the system's own.
 */
#include "cuda-trace/profile/counters/occupancy.h"
#include <stddef.h>
#include <string.h>

#define WARP	       OCCUPANCY_WARP
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

static void fill(const struct occupancy_launch *launch, const struct limits *limit,
		 struct occupancy *occupancy)
{
	int64_t warps = round_up(launch->threads, WARP) / WARP;
	int64_t of_warp = round_up(launch->registers * WARP, REGISTER_UNIT);

	*occupancy = (struct occupancy){
		.by_warps = limit->warps / warps,
		.by_registers = of_warp ? PART_REGISTERS / of_warp * PARTS / warps : INT32_MAX,
		.by_shared = INT32_MAX,
		.by_blocks = limit->blocks,
		.registers = of_warp * warps,
		.shared = round_up(launch->shared + limit->reserved, SHARED_UNIT),
	};
	if (occupancy->shared > 0)
		occupancy->by_shared = limit->shared_kib * 1024 / occupancy->shared;
	occupancy->blocks = least(least(occupancy->by_warps, occupancy->by_registers),
				  least(occupancy->by_shared, occupancy->by_blocks));
}

/* What no launch can have comes from a damaged file, or from a hostile process. */
static bool is_possible(const struct occupancy_launch *launch)
{
	return launch->blocks > 0 && launch->threads > 0 && launch->threads <= OCCUPANCY_THREADS &&
	       launch->registers >= 0 && launch->registers <= 255 && launch->shared >= 0 &&
	       launch->shared <= 1 << 20;
}

int occupancy__limit(const struct occupancy_launch *launch, int64_t capability,
		     struct occupancy_limit *found)
{
	const struct limits *limit = limits_of(capability);
	struct occupancy fit;
	int64_t by_size;

	if (!limit || !is_possible(launch))
		return -1;
	fill(launch, limit, &fit);
	by_size = least(fit.by_warps, fit.by_blocks);
	found->blocks = fit.blocks;
	found->percent = 100.0 * fit.blocks * round_up(launch->threads, WARP) / WARP / limit->warps;
	found->by = "block size";
	if (fit.by_registers == fit.blocks && fit.by_registers < by_size)
		found->by = "registers";
	else if (fit.by_shared == fit.blocks && fit.by_shared < by_size)
		found->by = "shared memory";
	else if (found->percent >= 100)
		found->by = NULL;
	return 0;
}

bool occupancy__of(const struct occupancy_launch *launch, int64_t capability,
		   int64_t multiprocessors, struct occupancy *occupancy)
{
	const struct limits *limit = limits_of(capability);
	double blocks;

	if (!limit || multiprocessors <= 0 || !is_possible(launch))
		return false;
	fill(launch, limit, occupancy);
	blocks = (double)launch->blocks / multiprocessors;
	if (blocks > occupancy->blocks)
		blocks = occupancy->blocks;
	occupancy->percent = 0.5 + 100 * blocks * launch->threads / (limit->warps * WARP);
	return true;
}

bool occupancy__device(int64_t capability, struct occupancy_device *found)
{
	const struct limits *limit = limits_of(capability);

	if (!limit)
		return false;
	*found = (struct occupancy_device){
		.threads = (int64_t)limit->warps * WARP,
		.blocks = limit->blocks,
		.shared = (int64_t)limit->shared_kib * 1024,
		.block_shared = 48 * 1024,
		.block_shared_optin = (int64_t)limit->shared_kib * 1024 - limit->reserved,
	};
	return true;
}

void occupancy__factors(const struct occupancy *occupancy, char *text)
{
	const struct {
		int64_t blocks;
		const char *name;
	} factors[] = {
		{occupancy->by_warps, "WARPS|"},
		{occupancy->by_registers, "REGS|"},
		{occupancy->by_shared, "SMEM|"},
		{occupancy->by_blocks, "BLOCKS|"},
	};
	char *end = text;

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		if (factors[i].blocks == occupancy->blocks)
			end = stpcpy(end, factors[i].name);
	end[-1] = '\0';
}
