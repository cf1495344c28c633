/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps sums of contexts whose device is not known yet. CUPTI reports a context in a buffer, which
 * may arrive after the first launches were counted. Delivered at once, these would be in series
 * without a device; and the first value of a series is in no rate() of it. So they are kept until
 * the device is reported, for some seconds. Used by live.c; its one thread.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_PENDING_H
#define CUDA_TRACE_LIVE_LIVE_PENDING_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/aggregate.h"
#include "cuda-trace/live/aggregate.h"

struct live_pending;
struct live_process;

/* What is kept of a process. Zeros at its start. */
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
/* Delivers what is known by now; all: as the process ends. */
void live_pending__hand_out(struct live_process *process, const struct aggregate_sink *sink,
			    bool all);
void live_pending__free(struct live_process *process);

#endif
