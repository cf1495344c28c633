// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* How far the tool's time namespace is ahead of the machine. */
static int64_t namespace_ns;

/* Before main(): the sandboxed children that read foreign files may not open this one. */
__attribute__((constructor)) static void read_namespace(void)
{
	int64_t seconds, nanoseconds;
	FILE *offsets = fopen("/proc/self/timens_offsets", "re");

	if (!offsets)
		return;
	if (fscanf(offsets, "monotonic %" SCNd64 " %" SCNd64, &seconds, &nanoseconds) == 2)
		namespace_ns = seconds * 1000000000 + nanoseconds;
	fclose(offsets);
}

uint64_t monotonic__ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec - namespace_ns;
}

uint64_t realtime__ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

uint64_t boottime__ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}
