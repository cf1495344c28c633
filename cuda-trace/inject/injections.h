/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes into which a session loads the agent: each once, a few at a time, again where an
 * attempt came at a bad moment. One thread.
 */
#ifndef CUDA_TRACE_INJECT_INJECTIONS_H
#define CUDA_TRACE_INJECT_INJECTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct injections;
struct injection_result;

/* How it ended for a process: result->error is 0 or says that it gets no agent (reported already).
 */
typedef void (*injections_ended)(void *context, uint32_t pid,
				 const struct injection_result *result);

/* agent: path of the library, as this process sees it; kept. unprepared: processes that run without
 * it get it, too, not only those that have it and wait. NULL without memory. */
struct injections *injections__new(const char *agent, bool unprepared, bool verbose,
				   injections_ended ended, void *context);
/* Accepts NULL. What is under way goes on by itself. */
void injections__free(struct injections *injections);
/* Whether the process uses CUDA, has no agent that is awake, and nothing was tried yet. */
bool injections__wants(const struct injections *injections, uint32_t pid);
/* What a process needs. */
enum injection_need {
	INJECTION_LOADS,  /* the agent */
	INJECTION_WAKES,  /* its agent sleeps; after a moment, as its cuInit() may be about to wake
			     it */
	INJECTION_PRIMES, /* its agent is awake, but has not initialised CUPTI */
};
/* True: an attempt is under way, or will be at a later call. */
bool injections__start(struct injections *injections, uint32_t pid, enum injection_need need);
/* Was there an attempt, however it ended? */
bool injections__tried(const struct injections *injections, uint32_t pid);
/* Is an attempt under way, or planned? */
bool injections__includes(const struct injections *injections, uint32_t pid);
/* Its threads stop where they enter libcuda next: no call begins any more without the agent, unless
 * the attempt fails. As of the last injections__poll(). */
bool injections__is_armed(const struct injections *injections, uint32_t pid);
const char *injections__agent(const struct injections *injections);
/* Hears of ends, begins what is due; cheap. */
void injections__poll(struct injections *injections);

#endif
