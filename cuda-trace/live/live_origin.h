/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which control group, container, pod or job a process of live.h runs, looked up as soon as it
 * reports itself, because /proc loses it when the process ends; and whether its pid is another's by
 * now.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_ORIGIN_H
#define CUDA_TRACE_LIVE_LIVE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/origin/origin.h"

struct live_process;
struct process;

#define LIVE_ORIGINS 256

/* A cache, indexed by the id's remainder, for processes that ended before they were looked up. */
struct live_origin {
	uint64_t id; /* of the cgroup */
	char cgroup[256];
	char container[16];
	struct origin origin; /* not in the cache: a group can have processes of several jobs */
	bool known;	      /* as struct live_process has it */
};

/* For a process that reports itself; the caller frees it; NULL: no memory. */
struct live_origin *live_origin__of(struct live_origin origins[LIVE_ORIGINS],
				    const struct process *traced);
/* Fills in process->cgroup, ->container and ->rank, from process->traced->data if the session knows
 * it. */
void live_origin__find(const struct live_origin origins[LIVE_ORIGINS],
		       struct live_process *process);
/* Fills in process->origin, if it was not known before; waits a moment for engines if `wait`. */
void live_origin__name(struct live_process *process, bool wait);
/* True if the process that has this pid now started after `time` (CLOCK_MONOTONIC, ns). False if
 * there is none. */
bool live_origin__is_later(uint32_t pid, uint64_t time);

#endif
