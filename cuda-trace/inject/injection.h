/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads the agent into a running process: stops its threads where they enter libcuda, has one of
 * them load the library, and continues them all. A helper process does it, and finishes even if the
 * tool is killed; if the helper is killed as well, the kernel continues the threads.
 * docs/internals/attach.md lists what can go wrong.
 */
#ifndef CUDA_TRACE_INJECT_INJECTION_H
#define CUDA_TRACE_INJECT_INJECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cuda-trace/inject/injection_target.h"

/* What a helper reports. */
struct injection_result {
	int32_t error; /* 0 = loaded; -EAGAIN, -EALREADY (another tool loads it): another
			* attempt may succeed */
	uint32_t threads, stopped; /* of the process; how many of them waited at libcuda */
	uint32_t link_us, stop_us; /* to set up the probes; the longest stop of a thread */
	uint32_t call_us;	   /* of that: loading the agent, and CUPTI's first subscription */
	uint32_t attempts;	   /* so far, this one included; from injections.c */
	uint8_t idle;		   /* no thread entered libcuda: one that slept made the call */
	uint8_t copied;		   /* the agent came as a copy in memory */
	uint8_t present;	   /* the process had loaded it */
	uint8_t met;		   /* it has come meanwhile; from injections.c */
	uint8_t started;	   /* its agent had started by itself; from injections.c */
	uint8_t armed;		   /* of the helper's first message alone, which is not the end */
	char reason[TARGET_REASON_SIZE]; /* why not; plain text */
};

struct injection {
	uint32_t pid;
	uint64_t start; /* of the process: see injection_target.h */
	pid_t helper;	/* 0 = there is none any more */
	int results;	/* pipe */
	bool armed;	/* each thread stops where it enters libcuda next */
};

/* agent: path of the library as this process sees it. 0 or -errno. */
int injection__start(struct injection *injection, uint32_t pid, const char *agent);
/* True: it is over, and *result says how. */
bool injection__poll(struct injection *injection, struct injection_result *result);
/* The helper takes some 50 ms to end after it has reported. True: it has. */
bool injection__reap(struct injection *injection);

#endif
