/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `profile --counters` and `profile --sass` have in common: kernels of PROGRAM are counted one
 * by one, which is asked for by its environment; how that goes each process tells by itself.
 */
#ifndef CUDA_TRACE_COUNTING_H
#define CUDA_TRACE_COUNTING_H

#include <stdbool.h>
#include "cuda-trace/counter_table.h"
#include "cuda-trace/profile.h"

struct counting {
	struct counter_table table;
	uint64_t failures; /* processes that count nothing */
	bool passes_said;
	bool slow_said;
	bool end_said; /* CUPTI counts no further kernel */
};

/* Before PROGRAM starts: what is to be counted, of which kernels. */
void counting__ask(const struct profile_options *options, const char *request);
/* Of a sink: the process is told of at the end, so its data stays in the table. */
void counting__process_start(void *context, struct process *process);
void counting__process_end(void *context, struct process *process);
/* Keeps it; says on stderr what is worth it. */
void counting__state(struct counting *counting, struct process *process,
		     const struct cuda_counters_state *record);
/* All that was asked for is counted: the program goes on without us. */
bool counting__is_done(const struct counting *counting);
/* The exit status, from that of the watch; what was kept is freed. */
int counting__end(struct counting *counting, const struct profile_options *options, int status);

#endif
