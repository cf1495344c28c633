// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/columns/hybrid_runs.h"

#include <stddef.h>

#define GROUP	   8  /* packed numbers come in groups */
#define LONG_RUN   16 /* takes less space as a run, even where it begins within a group */
#define MAX_GROUPS 4096

static uint32_t run_at(const uint16_t *numbers, uint32_t at, uint32_t count)
{
	uint32_t end = at + 1;

	while (end < count && numbers[end] == numbers[at])
		end++;
	return end - at;
}

static void put_run(struct byte_buffer *out, uint32_t number, uint32_t run, int width)
{
	byte_buffer__put_varint(out, (uint64_t)run << 1);
	byte_buffer__put_number(out, number, (width + 7) / 8);
}

/* The last group may lack numbers: those are 0. */
static void put_group(struct byte_buffer *out, const uint16_t *numbers, uint32_t count, int width)
{
	uint64_t bits = 0;
	int used = 0;

	for (uint32_t i = 0; i < GROUP; i++) {
		bits |= (uint64_t)(i < count ? numbers[i] : 0) << used;
		for (used += width; used >= 8; used -= 8, bits >>= 8)
			byte_buffer__put_number(out, bits & 0xff, 1);
	}
}

/* Up to the next long run. */
static uint32_t packed_at(const uint16_t *numbers, uint32_t at, uint32_t count)
{
	uint32_t end = at;

	do
		end += GROUP;
	while (end < count && end - at < GROUP * MAX_GROUPS &&
	       run_at(numbers, end, count < end + LONG_RUN ? count : end + LONG_RUN) < LONG_RUN);
	return end < count ? end : count;
}

void hybrid_runs__put(struct byte_buffer *out, const uint16_t *numbers, uint32_t count, int width)
{
	uint32_t at = 0;

	if (!numbers && count)
		put_run(out, 0, count, width);
	while (numbers && at < count) {
		uint32_t run = run_at(numbers, at, count), end;

		if (run >= LONG_RUN) {
			put_run(out, numbers[at], run, width);
			at += run;
			continue;
		}
		end = packed_at(numbers, at, count);
		byte_buffer__put_varint(out, (uint64_t)((end - at + GROUP - 1) / GROUP) << 1 | 1);
		for (; at < end; at += GROUP)
			put_group(out, numbers + at, end - at < GROUP ? end - at : GROUP, width);
		at = end;
	}
}
