/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_LIVE_LIVE_MISSED_H
#define CUDA_TRACE_LIVE_LIVE_MISSED_H

#include "cuda-trace/live/live.h"

/* Records that the process's agent numbered, and that never arrived. */
uint64_t live_missed__count(const struct live_process *process);

/* Sets what was lost, by reason, of the counters of the aggregate, what the session counted
 * (SESSION_LOST_...) and what all processes missed. */
void live_missed__fill(struct live_state *state, const uint64_t *lost, uint64_t missed);

#endif
