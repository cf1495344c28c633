/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time in slices of 16 us, each with 64 bits for each line: bit n says that something happened in
 * its n-th quarter of a microsecond. Lines of the same time base keep the same slices, and are
 * closed slice by slice, all at once, as time goes on.
 */
#ifndef CUDA_TRACE_STAT_STAT_LINES_H
#define CUDA_TRACE_STAT_STAT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAT_SLICE_BITS 14 /* ns: 16.4 us, 8 bytes a line */
#define STAT_BIT_BITS	8  /* ns: 256 ns */
#define STAT_MAX_LINES	448

struct stat_line {
	uint64_t *words; /* NULL = not open */
	/* Work shorter than a bit fills it: together it cannot be more than its lengths say. */
	uint64_t length;
	uint64_t late; /* ns, not in length */
};

struct stat_lines {
	uint64_t first;	 /* ns; UINT64_MAX = nothing came */
	uint64_t last;	 /* ns; 0 = nothing came */
	uint64_t oldest; /* number of the oldest slice that is kept */
	uint64_t size;	 /* slices */
	uint64_t late_events;
	struct stat_line *list[STAT_MAX_LINES];
	unsigned int count;
	void *context;
	/* The slice is about to go: each line's word of it is to be taken. */
	void (*close)(void *context, uint64_t slice);
	/* Something that belongs into the slice is to come: rather keep more of them. */
	bool (*expects)(void *context, uint64_t slice);
};

static inline uint64_t *stat_lines__word(const struct stat_lines *lines,
					 const struct stat_line *line, uint64_t slice)
{
	return &line->words[slice & (lines->size - 1)];
}

void stat_lines__init(struct stat_lines *lines);
/* All of them, or none: too many, or no memory. */
bool stat_lines__open(struct stat_lines *lines, struct stat_line *line, int count);
void stat_lines__close(struct stat_lines *lines, struct stat_line *line, int count);
void stat_lines__mark(struct stat_lines *lines, struct stat_line *line, uint64_t start,
		      uint64_t end);
/* Closes all slices. */
void stat_lines__finish(struct stat_lines *lines);
/* Bytes that are used beyond what all lines have at least. */
size_t stat_lines__beyond(const struct stat_lines *lines);

#endif
