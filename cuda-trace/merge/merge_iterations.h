/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iterations: steps of the ranks that belong together. One thread.
 */
#ifndef CUDA_TRACE_MERGE_MERGE_ITERATIONS_H
#define CUDA_TRACE_MERGE_MERGE_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct merge;

#define MERGE_STEPS	 (2u << 20) /* of all ranks: 48 bytes each */
#define MERGE_ITERATIONS 65536	    /* others are left out */
#define MERGE_NOTABLE	 1.02	    /* times the mean: such a rank is notably the slowest */
#define MERGE_NO_STEP	 UINT32_MAX
#define MERGE_NO_RANK	 UINT32_MAX

/* A step of a rank. Its time on the GPUs is that until the next one begins, or until its own end
 * if it is the last. */
struct merge_step {
	int64_t number;	     /* in its name (-1 = none), then what iterations are matched by */
	uint64_t length;     /* of the range; ns, as all of these */
	uint64_t span;	     /* what counts as its time */
	uint64_t compute_ns; /* on its GPUs together, as in struct merge_rank */
	uint64_t exposed_ns;
	float held_ns; /* sum of how long others waited for this rank, on average, in collectives */
	uint32_t rank; /* MERGE_NO_RANK: its process used no GPU */
};

struct merge_iteration {
	int64_t number;
	uint32_t run;	/* from 0: ranks of different communicators are not compared */
	uint32_t ranks; /* that have it */
	double median, longest;
	double compute, slowest_compute; /* mean, and longest */
	uint32_t slowest;		 /* rank with that; MERGE_NO_RANK: none, or only one */
	double exposed, longest_exposed;
	double share; /* exposed of the GPUs' time; below 0: no GPU */
	uint32_t late;
	double late_ns; /* how long others waited for `late`; it has the most of that */
};

struct merge_iterations {
	struct merge_iteration *list; /* by run and number */
	uint32_t count, capacity;
	uint64_t left_out;
	bool numbered;		    /* matched by numbers in names, not by order */
	uint32_t ranks, with_steps; /* that used a GPU; of these, with steps */
	uint32_t runs;
	uint32_t incomplete; /* iterations that a rank of the run lacks */
	double median, share;
	uint32_t slowest, slowest_count; /* rank that is notably the slowest in most iterations */
	uint32_t compared;		 /* iterations that have a slowest rank */
};

/* After merge_skew__sum(). 0 or -errno, printed. */
int merge_iterations__match(struct merge *merge);

#endif
