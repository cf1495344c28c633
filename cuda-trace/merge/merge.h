/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of several ranks, maybe of several hosts, as one: read file by file, put on one clock,
 * compared. docs/internals/merge.md has the method. One thread; what files say is untrusted.
 */
#ifndef CUDA_TRACE_MERGE_MERGE_H
#define CUDA_TRACE_MERGE_MERGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/collectives/nccl_comms.h"
#include "cuda-trace/merge/clock_fit.h"
#include "cuda-trace/merge/merge_iterations.h"
#include "cuda-trace/merge/merge_kernels.h"

struct sheet;

#define MERGE_FILES    4096
#define MERGE_RANKS    8192	       /* processes */
#define MERGE_ARRIVALS (4u << 20)      /* kernels of collectives: 48 bytes each */
#define MERGE_FAR      (INT64_MAX / 4) /* times beyond are no times */

/* A host's CLOCK_BOOTTIME. */
struct merge_clock {
	char host[64];
	int64_t boot;	   /* ns since 1970, by the wall clock */
	int64_t shift;	   /* if not aligned: by the wall clocks alone */
	uint64_t readings; /* ends of collectives that may align it */
	bool aligned;
	int round;    /* 0 = the reference */
	double error; /* ns; below 0 = unknown */
	struct clock_fit fit;
};

struct merge_file {
	char *path;
	uint32_t clock;
	int64_t epoch; /* its time 0 on the clock */
	int64_t first; /* when its first kernel begins, after that */
	bool read;
};

/* A process that used a GPU. */
struct merge_rank {
	uint32_t file, clock, pid;
	int64_t global; /* globalPid */
	int32_t rank;	/* of the launcher, or else of its first communicator; -1 = unknown */
	int64_t world;	/* the launcher's ranks; -1 = unknown */
	uint32_t group; /* ranks of one group share communicators, maybe over others; see merge_runs
			 */
	bool by_found;	/* the rank is that of a communicator that was made before */
	bool repeats;	/* another recording has its collectives */
	uint64_t calls, bytes;
	/* On its GPUs: time with kernels of NCCL, with others, and with the first alone. */
	uint64_t nccl_ns, compute_ns, exposed_ns;
	uint32_t gpus;
	/* Of collectives with all ranks, on aligned clocks: */
	uint64_t met, last;
	double late_ns;	 /* sum, where it came last: how long the others waited, on average */
	double after_ns; /* sum: how long after the first one it came */
};

/* Which process is a rank of a communicator. */
struct merge_member {
	uint32_t comm, member, rank; /* indices: of comms, of its ranks, of merge.ranks */
	bool found;		     /* it was made before, and this rank numbers on its own */
	bool matched;		     /* its numbers plus the shift are those of the others */
	uint64_t shift;		     /* modulo 2^64 */
};

/* A kernel of NCCL. */
struct merge_arrival {
	uint64_t number;    /* UINT64_MAX = not numbered */
	int64_t start, end; /* by the host's clock, then by the reference */
	uint32_t comm, member, rank;
	uint32_t part, part_count; /* what it does: indices of merge.parts */
	uint32_t step;		   /* index of merge.steps; MERGE_NO_STEP = none */
};

struct merge_problem {
	const char *kind; /* stable */
	char text[512];
};

#define MERGE_PROBLEMS 64

struct merge {
	struct merge_file *files;
	uint32_t file_count, file_capacity, unreadable;
	struct merge_clock *clocks;
	uint32_t clock_count, clock_capacity, reference;
	struct merge_rank *ranks;
	uint32_t rank_count, rank_capacity;
	struct merge_arrival *arrivals; /* by communicator, number, rank once all are read */
	uint32_t arrival_count, arrival_capacity;
	struct nccl_comm_part *parts;
	uint32_t part_count, part_capacity;
	uint64_t left_out;  /* kernels of collectives beyond MERGE_ARRIVALS */
	uint64_t unknown;   /* calls on communicators that were made before they were recorded */
	uint64_t unmatched; /* the same, of one that is known, but not what its numbers mean */
	uint64_t apart;	    /* collectives whose kernels do not overlap */
	uint64_t met,
		skew_ns; /* collectives of all ranks on aligned clocks; sum, last less first */
	struct nccl_comms comms;
	struct merge_member *members;
	uint32_t member_count, member_capacity;
	struct merge_kernels kernels;
	const char *range;	  /* what a step is: a pattern of NVTX ranges; NULL = nothing */
	struct merge_step *steps; /* by rank, in order */
	uint32_t step_count, step_capacity;
	uint64_t steps_left_out;
	struct merge_iterations iterations;
	struct merge_problem problems[MERGE_PROBLEMS];
	uint32_t problem_count, problems_left_out;
};

/* Files, and the recordings in folders. 0 or -errno, printed. */
int merge_files__add(struct merge *merge, const char *path);
/* Reads all; those that cannot be read are printed and counted. */
int merge_read__all(struct merge *merge);
/* Puts arrivals on one clock and in order. */
/* Before clocks are aligned: makes numbers of ranks that count on their own those of all. 0, or
 * -ENOMEM. */
int merge_numbers__match(struct merge *merge);
/* The ranks of this communicator count on their own: numbers that were not matched mean nothing. */
bool merge_numbers__are_own(const struct merge *merge, uint32_t comm);
int merge_clocks__align(struct merge *merge);
/* Sorts them. At least one. */
int64_t merge_clocks__median(int64_t *values, size_t count);
/* A time of a clock as the reference shows it. */
int64_t merge_clocks__convert(const struct merge *merge, uint32_t clock, int64_t time);
/* Sums up who waited for whom. */
void merge_skew__sum(struct merge *merge);
/* Arrivals [first, end) are of one communicator and number; returns the end. */
uint32_t merge_skew__group(const struct merge *merge, uint32_t first);
/* Finds what is wrong with the set of recordings. */
void merge_problems__find(struct merge *merge);
__attribute__((format(printf, 3, 4))) void
merge_problems__say(struct merge *merge, const char *kind, const char *format, ...);
/* "rank 3 (host b, pid 17)". */
const char *merge_rank__name(const struct merge *merge, uint32_t rank, char text[128]);
/* The longest ones, at most so many, or in JSON all. */
void merge_iteration_section__put(struct sheet *sheet, const struct merge *merge, uint64_t most);
void merge_report__write(const struct merge *merge, FILE *out, bool json, uint64_t most);
/* One process row for each rank. 0 or -errno, printed where it is not of writing. */
int merge_timeline__write(const struct merge *merge, FILE *out);
void merge__free(struct merge *merge);

#endif
