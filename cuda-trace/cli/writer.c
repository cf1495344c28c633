// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses the way of writing, and knows the wall clock.
 */
#include "cuda-trace/cli/writer.h"

#include <time.h>

void writer__row(struct writer *writer, const struct cell *cells)
{
	if (writer->json)
		writer_json__row(writer, cells);
	else
		writer_text__row(writer, cells);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

uint64_t writer__wall_clock(uint64_t monotonic)
{
	/* Taken once: a clock that is set meanwhile must not disorder the rows. */
	static uint64_t offset;

	if (!offset) {
		uint64_t before = read_clock(CLOCK_MONOTONIC);
		uint64_t wall = read_clock(CLOCK_REALTIME);

		offset = wall - (before + read_clock(CLOCK_MONOTONIC)) / 2;
	}
	return monotonic + offset;
}
