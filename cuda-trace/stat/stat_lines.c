// SPDX-License-Identifier: BSD-2-Clause
/*
 * In any order of arrival, a record costs a few instructions. What lies further back than the
 * slices that are kept is counted as late.
 */
#include "cuda-trace/stat/stat_lines.h"

#include <stdlib.h>

/* Slices, powers of 2. */
#define LEAST	 (1ull << 14) /* 268 ms */
#define FIRST	 (1ull << 16) /* 1.07 s: what comes out of order is not much later than this */
#define MAX_SIZE (1ull << 19) /* 8.6 s: 4 MiB a line */
#define MAX_BEYOND \
	(64u << 20) /* bytes, beyond LEAST of each line, that are kept for what is late */

void stat_lines__init(struct stat_lines *lines)
{
	*lines = (struct stat_lines){.first = UINT64_MAX, .size = FIRST};
}

static size_t bytes_beyond(uint64_t size, unsigned int count)
{
	return (size - LEAST) * sizeof(uint64_t) * count;
}

size_t stat_lines__beyond(const struct stat_lines *lines)
{
	return bytes_beyond(lines->size, lines->count);
}

/* What is closed stays as it is: only the place of what is kept changes. */
static bool resize(struct stat_lines *lines, uint64_t size)
{
	uint64_t *larger[STAT_MAX_LINES];
	unsigned int made = 0;

	if (size > MAX_SIZE || bytes_beyond(size, lines->count) > MAX_BEYOND)
		return false;
	while (made < lines->count && (larger[made] = calloc(size, sizeof(uint64_t))))
		made++;
	if (made < lines->count) {
		while (made)
			free(larger[--made]);
		return false;
	}
	for (unsigned int i = 0; i < made; i++) {
		for (uint64_t s = lines->oldest; s < lines->oldest + lines->size; s++)
			larger[i][s & (size - 1)] = *stat_lines__word(lines, lines->list[i], s);
		free(lines->list[i]->words);
		lines->list[i]->words = larger[i];
	}
	lines->size = size;
	return true;
}

bool stat_lines__open(struct stat_lines *lines, struct stat_line *line, int count)
{
	int made = 0;

	if (lines->count + count > STAT_MAX_LINES ||
	    (lines->size > FIRST && bytes_beyond(lines->size, lines->count + count) > MAX_BEYOND))
		return false;
	while (made < count && (line[made].words = calloc(lines->size, sizeof(uint64_t))))
		lines->list[lines->count++] = &line[made++];
	if (made < count)
		stat_lines__close(lines, line, made);
	return made == count;
}

void stat_lines__close(struct stat_lines *lines, struct stat_line *line, int count)
{
	for (int i = 0; i < count; i++) {
		for (unsigned int at = 0; at < lines->count; at++)
			if (lines->list[at] == &line[i])
				lines->list[at] = lines->list[--lines->count];
		free(line[i].words);
		line[i].words = NULL;
	}
}

static void make_space(struct stat_lines *lines, uint64_t slice)
{
	uint64_t closed = 0;

	while (slice >= lines->oldest + lines->size) {
		if (lines->expects(lines->context, lines->oldest) && resize(lines, lines->size * 2))
			continue;
		/* A gap longer than what is kept has nothing in it. */
		if (closed++ == lines->size)
			lines->oldest = slice - lines->size + 1;
		else
			lines->close(lines->context, lines->oldest++);
	}
}

/* Counts what of an event lies before the oldest slice, and lets others like it be in time. */
__attribute__((noinline)) static void count_late(struct stat_lines *lines, struct stat_line *line,
						 uint64_t start, uint64_t end)
{
	uint64_t oldest = lines->oldest << STAT_SLICE_BITS;

	lines->late_events++;
	line->late += (end < oldest ? end : oldest) - start;
	while ((lines->last - start) >> STAT_SLICE_BITS >= lines->size &&
	       resize(lines, lines->size * 2))
		;
}

/* What does not lie in one slice that is kept. */
__attribute__((noinline)) static void place(struct stat_lines *lines, struct stat_line *line,
					    uint64_t start, uint64_t end)
{
	uint64_t from = start >> STAT_SLICE_BITS, to = end >> STAT_SLICE_BITS;

	if (from < lines->oldest) {
		count_late(lines, line, start, end);
		from = lines->oldest;
		start = from << STAT_SLICE_BITS;
		if (end < start)
			return;
	}
	line->length += end - start;
	for (uint64_t slice = from; slice <= to; slice++) {
		int low = slice == from ? (start >> STAT_BIT_BITS) & 63 : 0;
		int high = slice == to ? (end >> STAT_BIT_BITS) & 63 : 63;

		/* On the way, so that an event longer than all slices is not cut. */
		if (slice >= lines->oldest + lines->size)
			make_space(lines, slice);
		*stat_lines__word(lines, line, slice) |= (~0ull >> (63 - (high - low))) << low;
	}
}

void stat_lines__mark(struct stat_lines *lines, struct stat_line *line, uint64_t start,
		      uint64_t end)
{
	uint64_t from = start >> STAT_SLICE_BITS;
	int low = (start >> STAT_BIT_BITS) & 63, high = (end >> STAT_BIT_BITS) & 63;

	if (start < lines->first) {
		if (lines->first == UINT64_MAX)
			lines->oldest = from > lines->size / 2 ? from - lines->size / 2 : 0;
		lines->first = start;
	}
	if (end > lines->last)
		lines->last = end;
	if (from != end >> STAT_SLICE_BITS || from - lines->oldest >= lines->size) {
		place(lines, line, start, end);
		return;
	}
	line->length += end - start;
	*stat_lines__word(lines, line, from) |= (~0ull >> (63 - (high - low))) << low;
}

void stat_lines__finish(struct stat_lines *lines)
{
	for (uint64_t i = 0; i < lines->size; i++)
		lines->close(lines->context, lines->oldest++);
}
