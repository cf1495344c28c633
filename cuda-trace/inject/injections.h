/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes into which a session loads the agent: each once, a few at a time, again if an
 * attempt failed only for the moment. One thread.
 */
#ifndef CUDA_TRACE_INJECT_INJECTIONS_H
#define CUDA_TRACE_INJECT_INJECTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct injections;
struct injection_result;

/* The outcome for a process: result->error is 0, or it gets no agent. */
typedef void (*injections_ended)(void *context, uint32_t pid,
				 const struct injection_result *result);

/* agent: path of the library, as this process sees it; kept. unprepared: also for processes without
 * the agent, not only for those in which it is dormant. NULL: no memory. */
struct injections *injections__new(const char *agent, bool unprepared, bool verbose,
				   injections_ended ended, void *context);
/* Accepts NULL. Attempts in progress continue by themselves. */
void injections__free(struct injections *injections);
/* True if the process uses CUDA, has no active agent, and no attempt was made yet. */
bool injections__wants(const struct injections *injections, uint32_t pid);
/* What a process needs. */
enum injection_need {
	INJECTION_LOADS, /* the agent */
	INJECTION_WAKES, /* to activate its dormant agent; after a moment, as its cuInit() may do so
			  */
	INJECTION_PRIMES, /* to have its agent, which has started, initialise CUPTI */
};
/* True: an attempt is in progress, or will be made in a later call. */
bool injections__start(struct injections *injections, uint32_t pid, enum injection_need need);
/* Was there an attempt, however it ended? */
bool injections__tried(const struct injections *injections, uint32_t pid);
/* Is an attempt in progress, or planned? */
bool injections__includes(const struct injections *injections, uint32_t pid);
/* Has the first attempt begun, and the last not ended? */
bool injections__is_trying(const struct injections *injections, uint32_t pid);
/* Its threads stop where they enter libcuda next: no call begins any more without the agent, unless
 * the attempt fails. As of the last injections__poll(). */
bool injections__is_armed(const struct injections *injections, uint32_t pid);
/* Prints why a process gets no agent; with `verbose` also how one got it. */
void injections__report(const struct injections *injections, uint32_t pid,
			const struct injection_result *result);
/* Calls handle() with each process that runs and whose attempt has not ended. Accepts NULL. */
void injections__each_open(const struct injections *injections,
			   void (*handle)(void *context, uint32_t pid), void *context);
const char *injections__agent(const struct injections *injections);
/* Handles finished attempts and starts those that are due; cheap. */
void injections__poll(struct injections *injections);

#endif
