/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One file while it is read: its calls of NCCL and its kernels. Inside of merge_*.c.
 */
#ifndef CUDA_TRACE_MERGE_MERGE_SCAN_H
#define CUDA_TRACE_MERGE_MERGE_SCAN_H

#include "cuda-trace/merge/merge.h"
#include "cuda-trace/merge/step_ranges.h"
#include "cuda-trace/report/report_file.h"

/* A communicator of a process of the file. */
struct scan_comm {
	int64_t global;
	uint64_t id;
	uint32_t comm, member, rank;
};

/* Which kernel an arrival of the file is: these are in order. */
struct scan_key {
	int64_t global, correlation, node;
};

struct merge_scan {
	struct merge *merge;
	struct report_file file;
	uint32_t index;	     /* of merge.files */
	uint32_t first_rank; /* the first of this file */
	uint32_t first_arrival;
	struct scan_comm *comms;
	uint32_t comm_count, comm_capacity;
	struct scan_key *keys; /* of the arrivals from first_arrival on */
	uint32_t key_capacity;
	struct step_processes steps;
	uint32_t first_step; /* theirs, in merge.steps */
	bool collectives;    /* it would have them */
	int err;
};

/* How far a GPU has come in the steps of its process. */
struct step_cursor {
	const struct step_ranges *ranges; /* NULL: it has none */
	uint32_t first, at;		  /* index of merge.steps; from there */
};

/* The process, made if it is new; below 0: too many. */
int merge_scan__rank(struct merge_scan *scan, int64_t global);
void merge_scan__calls(struct merge_scan *scan);
/* After the calls. */
void merge_scan__kernels(struct merge_scan *scan);

/* Before the kernels. */
void merge_steps__read(struct merge_scan *scan);
struct step_cursor merge_steps__cursor(const struct merge_scan *scan, uint32_t rank);
/* Index of merge.steps, or MERGE_NO_STEP. */
uint32_t merge_steps__at(const struct step_cursor *cursor, int64_t time);
/* Time of computation or of exposed communication; none begins before an earlier one of the cursor
 * ends. */
void merge_steps__add(struct merge *merge, struct step_cursor *cursor, int64_t from, int64_t to,
		      bool exposed);
/* After the kernels: whose the steps are. */
void merge_steps__finish(struct merge_scan *scan);

#endif
