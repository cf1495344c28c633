/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PC samples of one process that wait: a burst's own record, with its times, comes after its
 * samples, and whether it was in a window that a command collects is known later still. Bounded.
 */
#ifndef CUDA_TRACE_BASE_HELD_BURSTS_H
#define CUDA_TRACE_BASE_HELD_BURSTS_H

#include <stddef.h>
#include "libcupti-usdt/probes.h"

struct held_bursts;

struct held_burst {
	__u64 came; /* ns, its end; 0 = not yet */
	struct cuda_pc_window window;
	struct cuda_pc_sample *samples;
	size_t count, capacity;
	struct held_burst *next;
};

void held_bursts__free(struct held_bursts *bursts);
/* A PC_SAMPLE, or the PC_WINDOW that ends a burst of its context; makes *bursts when needed. */
void held_bursts__add(struct held_bursts **bursts, const struct cuda_record *record, __u64 now);
/* The burst that ended first, if that came by then; NULL = none. Valid until the next call. */
struct held_burst *held_bursts__take(struct held_bursts *bursts, __u64 until);

#endif
