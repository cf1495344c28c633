/* SPDX-License-Identifier: BSD-2-Clause */
/* --collectives of metrics: NCCL's calls and their kernels. Used by live_records.c. */
#ifndef CUDA_TRACE_LIVE_LIVE_COLLECTIVES_H
#define CUDA_TRACE_LIVE_LIVE_COLLECTIVES_H

#include "cuda-trace/capture/session.h"
#include "cuda-trace/collectives/nccl_comms.h"

struct live_collectives;

/* Adds to the options what it needs; ranks at most. NULL: no memory. The others accept NULL. */
struct live_collectives *live_collectives__open(struct session_options *options, uint32_t ranks);
/* See struct nccl_comms. Before anything comes. */
void live_collectives__notify(struct live_collectives *live,
			      void (*waited)(void *context, const struct collective_wait *waited),
			      void *context);
void live_collectives__call(struct live_collectives *live, struct process *process,
			    const struct event_collective *call);
void live_collectives__record(struct live_collectives *live, const struct process *process,
			      const struct cuda_record *record);
void live_collectives__end(struct live_collectives *live, const struct process *process);
void live_collectives__follow(struct live_collectives *live);
struct nccl_comms *live_collectives__comms(struct live_collectives *live);
void live_collectives__free(struct live_collectives *live);

#endif
