/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each process's share of the time in which its GPUs were busy (docs/reference/sharing.md): takes
 * the points of bpf/gpu_shares.h some seconds later, when the records of all processes are there,
 * and divides each among those that have it. Used by live.c; its one thread.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_SHARES_H
#define CUDA_TRACE_LIVE_LIVE_SHARES_H

#include "cuda-trace/live/live.h"

struct live_energy;
struct live_shares;

/* NULL: no memory. `energy`, the caller's, is divided, too; may be NULL. */
struct live_shares *live_shares__new(const struct aggregate *aggregate,
				     const struct live_sink *sink, struct live_energy *energy);
/* Takes what is old enough; now and then. */
void live_shares__tick(struct live_shares *shares, struct live_process *const *slots);
/* Before the process is forgotten: its last points are handed out later. */
void live_shares__end(struct live_shares *shares, struct live_process *process);
/* What is nobody's, for each GPU, and what came too late for a share, in ns. */
void live_shares__state(const struct live_shares *shares, struct live_share_state *state);
void live_shares__free(struct live_shares *shares);

#endif
