/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_LIVE_LIVE_MISSED_H
#define CUDA_TRACE_LIVE_LIVE_MISSED_H

#include "cuda-trace/live/live.h"

/* Records that the process's agent numbered, and that never arrived. */
uint64_t live_missed__count(const struct live_process *process);
/* The same, added to *(uint64_t *)sum. */
void live_missed__add(void *sum, struct live_process *process);

/* Puts in what the aggregate program lost, and what all processes missed, where state->lost has
 * what the session counted. */
void live_missed__fill(struct live_state *state, uint64_t missed);

#endif
