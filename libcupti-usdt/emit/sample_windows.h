/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the sampled groups are on: the requested cycle, its periods, and the window in each.
 * Counts and decides; control.c makes the calls. On the agent's own thread, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_EMIT_SAMPLE_WINDOWS_H
#define LIBCUPTI_USDT_EMIT_SAMPLE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct cuda_status;

/* Once, with the number of this load of the library. */
void sampling__prepare(uint64_t instance);
/* What is wanted from now on, by group; a cycle begins, goes on, changes or ends with it. */
void sampling__follow(uint32_t wanted, uint64_t now);
/* Of `wanted`: what CUPTI should collect now. */
uint32_t sampling__groups(uint32_t wanted);
/* It is time to open the window of this period, or to close it. */
bool sampling__is_due(uint64_t now);
/* The window opens: before and after CUPTI is switched on; it closes: before CUPTI is switched off.
 */
void sampling__open(void);
void sampling__opened(uint64_t now);
void sampling__close(uint64_t now);
bool sampling__is_open(void);
/* The window opens at once (or is open), and has its usual length from sampling__release() on. */
void sampling__keep_open(uint64_t now);
void sampling__release(uint64_t now);
/* Milliseconds to sleep of at most so many: a window must not end late. */
uint32_t sampling__pause(uint32_t milliseconds, uint64_t now);
/* A window's records may still come: CUPTI must be flushed for them now. */
bool sampling__lingers(uint64_t now);
/* Fills in the sampling fields of the agent's status. */
void sampling__tell(struct cuda_status *status);

#endif
