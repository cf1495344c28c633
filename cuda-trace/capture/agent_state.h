/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's states as text, and what they mean for the tool.
 */
#ifndef CUDA_TRACE_CAPTURE_AGENT_STATE_H
#define CUDA_TRACE_CAPTURE_AGENT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"

/* "dormant", "active", "profiled", "yielded", "inert", "ended"; "unknown" when none was reported.
 * Stable keys. */
const char *agent_state__key(const struct cuda_status *status);
/* How the process was traced: "cupti", "driver", "none"; source: enum event_source. */
const char *agent_state__source(const struct cuda_status *status, uint32_t source);
/* The agent is inert, or was until its process ended; reason says why. */
static inline bool agent_state__was_inert(const struct cuda_status *status)
{
	return status->version &&
	       (status->state == CUDA_STATE_INERT ||
		(status->state == CUDA_STATE_ENDED && status->reason != CUDA_INERT_NONE));
}
/* No usable libcupti, or another client uses CUPTI: only the driver's entry points can be traced.
 */
static inline bool agent_state__wants_driver(const struct cuda_status *status)
{
	if (status->version && status->state == CUDA_STATE_YIELDED)
		return true;
	return status->version && status->state == CUDA_STATE_INERT &&
	       (status->reason == CUDA_INERT_NO_CUPTI || status->reason == CUDA_INERT_UNSUITABLE ||
		status->reason == CUDA_INERT_FATAL || status->reason == CUDA_INERT_SANDBOXED);
}
static inline bool agent_state__works(const struct cuda_status *status)
{
	return status->version &&
	       (status->state == CUDA_STATE_DORMANT || status->state == CUDA_STATE_ACTIVE);
}
/* It is being PC-sampled: its kernels have no times meanwhile. */
static inline bool agent_state__is_profiled(const struct cuda_status *status)
{
	return status->version && status->state == CUDA_STATE_ACTIVE &&
	       status->groups & 1u << CUDA_GROUP_PC_SAMPLES;
}
/* No tool has attached yet, and CUPTI would have to be initialised while the program runs. An agent
 * that has just started, inside the program's cuInit(), initialises it itself. */
static inline bool agent_state__is_unprimed(const struct cuda_status *status)
{
	return status->version && status->state == CUDA_STATE_DORMANT && status->began &&
	       !status->subscribing && !status->prime_us && !status->activations;
}
/* Why no CUPTI records come from a process in this state, or NULL. */
const char *agent_state__trouble(const struct cuda_status *status);
/* Why no kernel times come: the same, or because it is being PC-sampled. */
const char *agent_state__no_times(const struct cuda_status *status);

#endif
