/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which launches fire a stack probe. Called on the launching thread, in its launch.
 */
#ifndef LIBCUPTI_USDT_TRACE_STACK_SAMPLING_H
#define LIBCUPTI_USDT_TRACE_STACK_SAMPLING_H

#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/emit/ring.h"

/* A launch has returned; `ring` may be NULL. True: stack_sampling__sample() has to look at it. */
static inline bool stack_sampling__may_be_due(struct ring *ring)
{
	uint32_t wanted = atomic_load_explicit(&hot.stack_probes, memory_order_relaxed);

	return __builtin_expect(wanted, 0) && (!ring || ring__stack_may_be_due(ring, wanted));
}
void stack_sampling__sample(struct ring *ring, uint32_t correlation, uint32_t context);
/* A call has returned that created or changed nodes of a graph: it gets a stack in any case, and is
 * none of those that are counted. Times as launches have them. */
void stack_sampling__take(struct ring *ring, uint32_t correlation, uint32_t context, uint64_t start,
			  uint64_t end);

#endif
