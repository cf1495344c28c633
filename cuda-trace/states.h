/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the guest's states.
 */
#ifndef CUDA_TRACE_STATES_H
#define CUDA_TRACE_STATES_H

#include <stdbool.h>

#include "libcupti-usdt/probes.h"

/* "dormant", "active", "yielded", "inert", "ended"; "unknown" when none was told. Stable keys. */
const char *states__key(const struct cuda_status *status);
/* The guest never works, or has ended without; reason says why. */
static inline bool states__was_inert(const struct cuda_status *status)
{
	return status->version &&
	       (status->state == CUDA_STATE_INERT ||
		(status->state == CUDA_STATE_ENDED && status->reason != CUDA_INERT_NONE));
}
/* Why no GPU times come from a process in this state, or NULL. */
const char *states__trouble(const struct cuda_status *status);

#endif
