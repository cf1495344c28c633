/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --max-overhead: measures how much longer a launch takes while kernels are timed, and derives how
 * long windows may be. Gets the launches of all processes; one thread.
 */
#ifndef CUDA_TRACE_CAPTURE_OVERHEAD_LIMIT_H
#define CUDA_TRACE_CAPTURE_OVERHEAD_LIMIT_H

#include <stdint.h>
#include "bpf/aggregate.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/cli/sample_options.h"
#include "cuda-trace/capture/session.h"

struct overhead;

/* NULL without a limit. */
struct overhead *overhead_limit__new(const struct sample *sample);
void overhead_limit__free(struct overhead *overhead);
/* Accepts NULL, as the following do. Ignores launches of the driver source, which never have GPU
 * times. */
void overhead_limit__launch(struct overhead *overhead, const struct process *process,
			    const struct cuda_launch *launch);
/* The same of all launches at once; `sum` grows from call to call. */
void overhead_limit__spans(struct overhead *overhead, const struct aggregate_spans *sum);
/* To be called several times a second: changes the window if necessary, with a message for
 * `command` unless that is NULL. */
void overhead_limit__tick(struct overhead *overhead, struct session *session, const char *command);

/* What else costs so much of the time, whatever the windows are: they get the rest. */
void overhead_limit__besides(struct overhead *overhead, double part);

struct overhead_finding {
	uint32_t on_ms;	    /* the window now */
	uint64_t launch_ns; /* of the middle launch between windows */
	int64_t added_ns;   /* that one in a window took longer */
	double part;	    /* of the time: what the windows cost launches now, */
	double besides;	    /* and what else is known to cost */
	double limit;
	uint64_t measured; /* launches that were compared; 0 = nothing is known yet */
};

/* False: there is no limit. */
bool overhead_limit__finding(const struct overhead *overhead, struct overhead_finding *finding);

#endif
