/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels by the NVTX range that they were launched in: of one process while it lives, and of all
 * of them. A kernel belongs to the push/pop ranges that are open on the thread which launches it.
 */
#ifndef CUDA_TRACE_STAT_STAT_RANGES_H
#define CUDA_TRACE_STAT_STAT_RANGES_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/stat/stat_range_tree.h"

#define STAT_MAX_RANGE_NAMES 1024

enum stat_range_kind {
	STAT_RANGE_NONE,   /* in no range */
	STAT_RANGE_LOST,   /* in one that had not ended, or nobody can tell */
	STAT_RANGE_OTHERS, /* in one that found no line */
	STAT_RANGE_NAMED,
};

struct stat_range_line {
	enum stat_range_kind kind;
	uint32_t text, domain; /* ids, while the process lives */
	uint32_t hash;	       /* of the two below, in the sum of all */
	char name[96];	       /* untrusted, as the next */
	char domain_name[48];
	uint64_t entered;	/* times */
	struct range_sums self; /* by the innermost range */
	struct range_sums all;	/* with the ranges within */
};

/* The first ones are those that have no name. */
struct stat_range_lines {
	uint32_t count;
	struct stat_range_line lines[STAT_RANGE_NAMED + STAT_MAX_RANGE_NAMES];
};

struct stat_ranges;

/* count: of those that there are. NULL = no memory, or too many already; all below accept it, and
 * what the process did is untold. */
struct stat_ranges *stat_ranges__new(uint32_t *count);
void stat_ranges__free(struct stat_ranges *ranges);
/* Kernels, launches of both kinds, whole graphs, NVTX; others are none of its business. */
void stat_ranges__record(struct stat_ranges *ranges, const struct cuda_record *record);
/* Adds those of a process that ends; of one that has none all that it did, in which ranges nobody
 * knows. */
void stat_ranges__merge(struct stat_range_lines **sum, struct stat_ranges *of,
			const struct process *process, const struct range_sums *done);
/* By GPU time, longest first; accepts NULL. */
void stat_ranges__sort(struct stat_range_lines *lines);

#endif
