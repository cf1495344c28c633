// SPDX-License-Identifier: BSD-2-Clause
/*
 * Limits of a multiprocessor by compute capability: CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability". Registers are given to warps in units of 256, from four
 * parts of 16,384; shared memory in units of 128 bytes, from 8.0 on with 1 KiB of the system's own.
 */
#include "cuda-trace/export_occupancy.h"
#include <stdbool.h>
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

/* Blocks that fit into a multiprocessor at once, by each of its resources. */
struct fitting {
	int64_t by_warps, by_registers, by_shared;
};

static struct fitting fitting(const struct occupancy_launch *launch, const struct limits *limit)
{
	int64_t warps = round_up(launch->threads, WARP) / WARP;
	int64_t shared = round_up(launch->shared + limit->reserved, SHARED_UNIT);
	struct fitting fit = {least(limit->blocks, limit->warps / warps), INT64_MAX, INT64_MAX};

	if (launch->registers > 0) {
		int64_t each = round_up(launch->registers * WARP, REGISTER_UNIT);

		fit.by_registers = PART_REGISTERS / each * PARTS / warps;
	}
	if (shared > 0)
		fit.by_shared = limit->shared_kib * 1024 / shared;
	return fit;
}

static int64_t fit_at_once(const struct fitting *fit)
{
	return least(fit->by_warps, least(fit->by_registers, fit->by_shared));
}

/* What no launch can have comes from a damaged file, or from a hostile process. */
static bool is_possible(const struct occupancy_launch *launch)
{
	return launch->blocks > 0 && launch->threads > 0 && launch->threads <= 1024 &&
	       launch->registers >= 0 && launch->registers <= 255 && launch->shared >= 0 &&
	       launch->shared <= 1 << 20;
}

int occupancy__limit(const struct occupancy_launch *launch, int64_t capability,
		     struct occupancy_limit *found)
{
	const struct limits *limit = limits_of(capability);
	struct fitting fit;

	if (!limit || !is_possible(launch))
		return -1;
	fit = fitting(launch, limit);
	found->blocks = fit_at_once(&fit);
	found->percent =
		100.0 * found->blocks * round_up(launch->threads, WARP) / WARP / limit->warps;
	found->by = "block size";
	if (fit.by_registers == found->blocks && fit.by_registers < fit.by_warps)
		found->by = "registers";
	else if (fit.by_shared == found->blocks && fit.by_shared < fit.by_warps)
		found->by = "shared memory";
	else if (found->percent >= 100)
		found->by = NULL;
	return 0;
}

int occupancy__percent(const struct occupancy_launch *launch, int64_t capability,
		       int64_t multiprocessors)
{
	const struct limits *limit = limits_of(capability);
	struct fitting fit;
	double blocks;

	if (!limit || multiprocessors <= 0 || !is_possible(launch))
		return -1;
	fit = fitting(launch, limit);
	blocks = (double)launch->blocks / multiprocessors;
	if (blocks > fit_at_once(&fit))
		blocks = fit_at_once(&fit);
	return 0.5 + 100 * blocks * launch->threads / (limit->warps * WARP);
}
