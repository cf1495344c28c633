/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of processes: their NVTX ranges of a name, in order, none within another. One thread;
 * what the file says is untrusted.
 */
#ifndef CUDA_TRACE_MERGE_STEP_RANGES_H
#define CUDA_TRACE_MERGE_STEP_RANGES_H

#include <stdint.h>
#include "cuda-trace/report/report_file.h"

#define STEP_RANGES_MAX	  65536		    /* of a process */
#define STEP_RANGES_FAR	  (INT64_MAX / 4)   /* times beyond are no times */
#define STEP_NUMBER_LIMIT 1000000000000000l /* numbers in names are below it */

struct step_range {
	int64_t start, end;
	int64_t number; /* the last one in its name; -1 = none */
};

/* Of a process. */
struct step_ranges {
	int64_t global; /* globalPid */
	struct step_range *list;
	uint32_t count, capacity;
};

struct step_processes {
	struct step_ranges *list;
	uint32_t count, capacity;
	uint64_t left_out; /* ranges beyond the limits */
};

/* Of ranges whose names match the pattern (as for fnmatch()), so many of a process and of so many
 * processes. 0 or -errno, printed; what is in `processes` is to be freed in any case. */
int step_ranges__read(const struct report_file *file, const char *pattern, uint32_t most,
		      uint32_t most_processes, struct step_processes *processes);
/* The last one that began until then; what comes after the last one's end is of none. -1 = none. */
int64_t step_ranges__at(const struct step_ranges *ranges, int64_t time);
void step_ranges__free(struct step_processes *processes);

#endif
