/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the steps of one process take, and how long they usually do. A step is an NVTX range of
 * a name. One thread; the process controls what comes.
 */
#ifndef CUDA_TRACE_TRIGGER_STEP_TIMES_H
#define CUDA_TRACE_TRIGGER_STEP_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

#define STEP_TIMES_SKIPPED 5   /* the first steps of a process: they compile, allocate and cache */
#define STEP_TIMES_LEAST   10  /* what is usual is known from so many more on */
#define STEP_TIMES_KEPT	   255 /* of the steps before the present one, the last ones */

struct step_times {
	uint64_t steps;						   /* that ended */
	uint64_t recent[STEP_TIMES_KEPT], sorted[STEP_TIMES_KEPT]; /* ns; recent: a ring */
	uint32_t count, next;
	bool is_open;
	struct cuda_nvtx open;
	uint64_t last_start, last_end; /* of the latest step that ended */
};

/* A range of the name has begun (CUDA_RECORD_NVTX_OPEN). */
void step_times__begin(struct step_times *times, const struct cuda_nvtx *range);
/* One has ended. False: it is no step, but within one or beside one. */
bool step_times__end(struct step_times *times, const struct cuda_nvtx *range);
/* The duration of a step becomes one of those by which the next ones are judged. */
void step_times__add(struct step_times *times, uint64_t ns);
/* Records were lost: whether the open range has ended is unknown. */
void step_times__forget_open(struct step_times *times);
/* The median; 0 = not known yet. */
uint64_t step_times__usual(const struct step_times *times);

#endif
