/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of contexts whose device is not known yet. CUPTI reports a context in a buffer, which may
 * come after the first launches have been counted. Handed out at once, these would be in series of
 * their own, without a device; and what a series begins with is in no rate() of it. So they are
 * kept until the device is reported, for some seconds. Used by live.c; its one thread.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_PENDING_H
#define CUDA_TRACE_LIVE_LIVE_PENDING_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/aggregate.h"
#include "cuda-trace/live/aggregate.h"

struct live_pending;
struct live_process;

/* What of a process is kept. Zeros at its start. */
struct live_holds {
	struct live_pending *first;
	uint32_t count;
	uint64_t since; /* ms: when the first of these came */
	bool given_up;	/* nothing more is kept */
};

/* True: it is kept. */
bool live_pending__tally(struct live_process *process, const struct tally_key *key,
			 const struct tally *tally);
bool live_pending__shape(struct live_process *process, const struct shape_key *key,
			 const struct shape *shape);
/* Hands out what may be by now; all: as the process ends. */
void live_pending__hand_out(struct live_process *process, const struct aggregate_sink *sink,
			    bool all);
void live_pending__free(struct live_process *process);

#endif
