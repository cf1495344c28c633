/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which process of live.h a number means: in which control group and container it runs, looked up
 * as soon as it reports itself, because /proc forgets it with its end; and whether it is another's
 * by now.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_ORIGIN_H
#define CUDA_TRACE_LIVE_LIVE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

struct live_process;
struct process;

#define LIVE_ORIGINS 256

/* What was seen last of the groups whose ids have the same remainder: for processes that ended
 * before they were looked at. */
struct live_origin {
	uint64_t id; /* of the cgroup */
	char cgroup[256];
	char container[16];
};

/* Of a process that reports itself; the caller's to free; NULL: no memory. */
struct live_origin *live_origin__of(struct live_origin origins[LIVE_ORIGINS],
				    const struct process *traced);
/* Fills in process->cgroup, ->container and ->rank, from process->traced->data if the session knows
 * it. */
void live_origin__find(const struct live_origin origins[LIVE_ORIGINS],
		       struct live_process *process);
/* True if the process that has this pid now started after `time` (CLOCK_MONOTONIC, ns). False if
 * there is none. */
bool live_origin__is_later(uint32_t pid, uint64_t time);

#endif
