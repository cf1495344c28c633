// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses the way of writing, and knows the wall clock.
 */
#include "cuda-trace/cli/writer.h"

#include "cuda-trace/base/clock.h"

void writer__row(struct writer *writer, const struct cell *cells)
{
	if (writer->json)
		writer_json__row(writer, cells);
	else
		writer_text__row(writer, cells);
}

uint64_t writer__wall_clock(uint64_t monotonic)
{
	/* Taken once: a clock that is set meanwhile must not disorder the rows. */
	static uint64_t offset;

	if (!offset) {
		uint64_t before = monotonic__ns();
		uint64_t wall = realtime__ns();

		offset = wall - (before + monotonic__ns()) / 2;
	}
	return monotonic + offset;
}
