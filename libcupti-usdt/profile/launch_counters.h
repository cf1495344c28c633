/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardware counters of chosen kernels: which launches are counted, how others are kept out
 * meanwhile, and what becomes of the values. docs/internals/agent.md, "Counters", says what could
 * go wrong.
 */
#ifndef LIBCUPTI_USDT_PROFILE_LAUNCH_COUNTERS_H
#define LIBCUPTI_USDT_PROFILE_LAUNCH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct cupti_callback_data;

/* On launching threads, at entry and exit of each call of the driver API that is called back. */
void launch_counters__enter(int domain, uint32_t cbid, const struct cupti_callback_data *data);
void launch_counters__leave(int domain, uint32_t cbid, const struct cupti_callback_data *data);

/* The following on the agent's own thread. Somebody listens, or nobody does any more; late: the
 * program may be launching already. */
void launch_counters__follow(void *subscriber, bool wanted, bool late);
/*
 * Nobody listens any more, so no further kernel is begun. While one is being counted the group must
 * stay on: without the callback at its launch's exit CUPTI would go on counting for ever.
 */
void launch_counters__drain(void);
bool launch_counters__is_draining(void);
bool launch_counters__is_counting(void);
/* Reports the progress, and releases the GPU when all is counted. */
void launch_counters__tick(uint64_t now);
/* The program ends. */
void launch_counters__finish(void);

/* From CUPTI's callback, on any thread. */
void launch_counters__context_ends(void *context);

#endif
