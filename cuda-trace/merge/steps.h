/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a step takes on each rank, in at most 3 KB a rank: enough to compare a thousand of them. A
 * step is an NVTX range; the GPU work of a step is what begins in it or before the next one. Times
 * are ns. One thread; what files say is untrusted.
 */
#ifndef CUDA_TRACE_MERGE_STEPS_H
#define CUDA_TRACE_MERGE_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/idle/idle.h"
#include "cuda-trace/report/report_file.h"

#define STEP_RANKS_MAX	8192
#define STEP_GROUPS_MAX 9 /* the longest kernels, and the others together */
#define STEP_PARTS_MAX	4 /* causes of idle time, operations of NCCL: the longest */

/* Of a step: the middle, and what 99 in 100 do not exceed. */
struct step_time {
	uint64_t p50, p99;
};

struct step_group {
	char name[96];
	uint64_t kernels; /* in all steps */
	struct step_time ns;
};

/* A cause of idle time, or an operation of NCCL. */
struct step_part {
	char name[24];
	uint64_t calls, bytes; /* in all steps, of operations */
	struct step_time ns;
};

struct step_parts {
	bool known; /* they were recorded */
	uint32_t count;
	struct step_part list[STEP_PARTS_MAX];
};

struct step_rank {
	char range[128], host[64], process[64]; /* range: what a step was */
	uint32_t pid;
	int64_t rank; /* of the launcher; -1 = unknown */
	uint64_t steps;
	struct step_time step, busy, nccl; /* its range; its GPUs; of that with kernels of NCCL */
	uint32_t group_count;
	struct step_group groups[STEP_GROUPS_MAX];
	struct step_time idle;	/* of its GPUs together, if the causes are known */
	char idle_unknown[120]; /* why they are not, though they were recorded; "" otherwise */
	struct step_parts causes, collectives;
};

struct step_ranks {
	const char *range; /* a pattern of NVTX ranges, as for fnmatch() */
	struct step_rank *list;
	uint32_t count, capacity, left_out;
	char **inputs; /* files that were read */
	uint32_t input_count, input_capacity;
};

/* Of a recording: its processes that have such ranges. 0 or -errno, printed. */
int step_read__recording(struct step_ranks *ranks, const struct report_file *file);
/* Why the GPUs of processes were idle; see idle__on_gap(), with times of the file. *known: false =
 * that was not recorded, or *why says why it is not known nevertheless. 0 or -errno, printed. */
int step_idle__read(const struct report_file *file, idle_gap_handler handle, void *context,
		    bool *known, const char **why);
/* Lines as step_lines__write() writes them; `path` is for messages. 0 or -errno, printed. */
int step_lines__read(struct step_ranks *ranks, FILE *in, const char *path);
void step_lines__write(FILE *out, const struct step_rank *rank);
/* NULL: no memory, or too many, which are counted. */
struct step_rank *step_ranks__add(struct step_ranks *ranks);

struct step_options {
	const char *range, *output;
	bool json;
	uint64_t most; /* rows of text */
};

/* Reads recordings, summaries and folders with either; an exit status. */
int step_report__run(const struct step_options *options, char **paths);

#endif
