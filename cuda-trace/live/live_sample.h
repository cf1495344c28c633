/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --sample of metrics and top: extrapolates sums from windows to all of the time; --max-overhead:
 * how long windows may be. Called by live.c.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_SAMPLE_H
#define CUDA_TRACE_LIVE_LIVE_SAMPLE_H

#include "bpf/aggregate.h"
#include "cuda-trace/capture/overhead_limit.h"
#include "cuda-trace/capture/session.h"

/* What a process reported of its windows when its sums were last collected. */
struct live_sample {
	uint64_t start, time; /* ns */
	uint64_t open_ns;
	double scale; /* 0 = nothing yet */
};

struct aggregate;

struct live_pace {
	struct overhead *overhead; /* NULL = the cycle stays */
	const char *command;	   /* in messages */
	int64_t next;		   /* the second of the last look */
};

/* Lengthens or shortens windows if necessary; options->sample_on_ms is the new length. */
void live_sample__tick(struct live_pace *pace, const struct aggregate *aggregate,
		       struct session *session, struct session_options *options);
/* The factor for records since the last call: from the windows reported meanwhile, otherwise from
 * the requested ones. */
double live_sample__scale(const struct session_options *options, const struct process *traced,
			  struct live_sample *last);
/* True for a kind that is collected in windows only (whole_copies: copies and memsets are not):
 * *whole is then the extrapolated tally. */
bool live_sample__expand(const struct tally_key *key, const struct tally *tally, double scale,
			 bool whole_copies, struct tally *whole);
/*
 * The variance of the time in an expanded tally, at most: each kernel counted as long as its
 * bucket's upper bound, and kernels as drawn one by one.
 */
double live_sample__variance(const struct tally *whole, double scale);

#endif
