/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `stat --api`: calls of the CUDA API by name, and driver calls under the runtime call that made
 * them. Time within a call that is in the table, too, is not added up a second time. One thread.
 */
#ifndef CUDA_TRACE_STAT_STAT_CALLS_H
#define CUDA_TRACE_STAT_STAT_CALLS_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/stat/stat_events.h"

struct stat_call {
	char name[96];	 /* untrusted */
	char parent[96]; /* the runtime call that made it; "" = none */
	uint8_t domain;	 /* enum cuda_domain */
	uint64_t failed;
	uint64_t own_ns; /* of the total: not in calls that it made */
	struct stat_span span;
};

struct stat_calls {
	struct stat_call *lines;
	uint32_t count;
	uint64_t host_ns; /* of those without a parent, in all threads */
	/* The rest is stat_calls.c's own. */
	const char *glob;
	struct calls *held;
	uint32_t capacity;
	uint32_t *slots;
};

/* `glob`: which calls; NULL = all. NULL if there is no memory. */
struct stat_calls *stat_calls__new(const char *glob);
/* Accepts NULL, as all below do. */
void stat_calls__free(struct stat_calls *calls);
void stat_calls__record(struct stat_calls *calls, struct process *process,
			const struct cuda_api *call);
void stat_calls__tick(struct stat_calls *calls);
void stat_calls__end(struct stat_calls *calls, struct process *process);
/* Longest first, each followed by what it made; sums are complete then. */
void stat_calls__sort(struct stat_calls *calls);

#endif
