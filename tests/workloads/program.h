/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every test program shares: the CUDA start-up, the kernels, and the truth that it prints as
 * its last line. A counted__ function makes the CUDA call of its name and counts what happened;
 * every call that a tracer could count goes through one of them.
 *
 * The keys of the last line, counted over the whole process:
 *   launches       kernel launch calls made, also those that failed and those that a capture made
 *                  nodes of; graph launches are apart
 *   kernels        kernels executed on the GPU, those of graphs included
 *   launch_errors  launch calls (kernels and graphs) that returned an error
 *   graph_launches graph launch calls made, failed ones included
 *   memcpys        copies executed, those of graphs included; memcpy_bytes: their bytes
 *   memsets        fills executed, those of graphs included
 *   allocs         allocation calls that succeeded: device, pool, pinned host, managed; the static
 *                  variables of a module are none
 *   frees          calls that freed one of these
 *   live_bytes     bytes of these that were not freed
 *   syncs          calls that wait for a context, a stream or an event
 *   api_errors     CUDA calls of any kind that returned an error
 */
#ifndef TESTS_WORKLOADS_PROGRAM_H
#define TESTS_WORKLOADS_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include "tests/simcuda/cuda.h"

struct truth {
	_Atomic uint64_t launches, kernels, launch_errors, graph_launches;
	_Atomic uint64_t memcpys, memcpy_bytes, memsets;
	_Atomic uint64_t allocs, frees, live_bytes, syncs, api_errors;
};

extern struct truth truth;
extern const char program_kernels[]; /* PTX: empty, demo::nothing(), saxpy, increment, spin */

struct program {
	CUdevice device;
	CUcontext context;
	CUmodule module;
};

/* cuInit, first device, primary context, kernels; ends the program with 1 on an error. With
 * PROGRAM_GATE=FIFO it waits here until somebody opens that file for writing. */
void program__start(struct program *program);
CUfunction program__kernel(struct program *program, const char *name);
/* Prints the last line; keys of one program's own come after the common ones. Waits afterwards as
 * program__start() does, for PROGRAM_LAST_GATE. */
void program__also(const char *key, uint64_t value);
void program__expect(void);
void program__fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Ends the program if this result is an error. */
void program__check(CUresult result, const char *what);
uint64_t program__now(void);
uint64_t program__number(const char *text, const char *option);

struct shape {
	unsigned int grid[3], block[3], shared;
};

CUresult counted__result(CUresult result);
CUresult counted__launch(CUfunction kernel, const struct shape *shape, CUstream stream,
			 void **parameters);
CUresult counted__launch_ex(CUfunction kernel, const struct shape *shape, CUstream stream,
			    void **parameters, CUlaunchAttribute *attributes, unsigned int count);
CUresult counted__launch_cooperative(CUfunction kernel, const struct shape *shape, CUstream stream,
				     void **parameters);
/* By cudaGraphLaunch() from here on. */
void program__launch_graphs_by_runtime(void);
/* kernels, copies, bytes, sets: what one launch of this graph executes */
CUresult counted__graph_launch(CUgraphExec exec, CUstream stream, uint64_t kernels, uint64_t copies,
			       uint64_t bytes, uint64_t sets);
/* A launch call on a capturing stream: it runs nothing yet. */
CUresult counted__captured(CUresult result);
CUresult counted__context_synchronize(void);
CUresult counted__stream_synchronize(CUstream stream);
CUresult counted__event_synchronize(CUevent event);
/* For the calls that are made in place: counts what they did if they succeeded. */
CUresult counted__wait(CUresult result);
CUresult counted__copy(CUresult result, uint64_t bytes);
CUresult counted__set(CUresult result);
CUresult counted__alloc(CUresult result, uint64_t bytes);
CUresult counted__free(CUresult result, uint64_t bytes);

#endif
