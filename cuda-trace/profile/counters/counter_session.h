/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `profile --counters` and `profile --sass` have in common: kernels are counted one by one,
 * which the environment of PROGRAM requests, and in running processes a request (requests.h);
 * each process itself reports the progress.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_COUNTER_SESSION_H
#define CUDA_TRACE_PROFILE_COUNTERS_COUNTER_SESSION_H

#include <stdbool.h>
#include "cuda-trace/profile/counters/counter_table.h"
#include "cuda-trace/profile/profile.h"

struct requests;

struct counting {
	struct counter_table table;
	struct requests *requests; /* to processes that run already; NULL = PROGRAM is started */
	uint32_t pid;		   /* of -p, or 0 */
	uint64_t failures;	   /* processes that count nothing, which was reported */
	bool passes_said;
	bool slow_said;
	bool end_said; /* CUPTI counts no further kernel */
};

/* Before PROGRAM starts, or processes are found: what is to be counted, of which kernels. An exit
 * status. */
int counter_session__ask(struct counting *counting, const struct profile_options *options,
			 const char *request);
/* Of a sink: the report names the process at the end, so its data stays in the table. */
void counter_session__process_start(void *context, struct process *process);
void counter_session__process_status(struct counting *counting, struct process *process);
void counter_session__process_end(struct counting *counting, struct process *process);
/* False if another tool requested this process's counters. */
bool counter_session__means(struct counting *counting, struct process *process);
/* Keeps it; says on stderr what is worth it. */
void counter_session__state(struct counting *counting, struct process *process,
			    const struct cuda_counters_state *record);
/* Several times a second. True: all that was requested is counted, the program goes on without us.
 */
bool counter_session__tick(struct counting *counting);
/* The exit status, from that of the watch; what was kept is freed. */
int counter_session__end(struct counting *counting, const struct profile_options *options,
			 int status);

#endif
