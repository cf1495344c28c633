/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides when the sampled groups are on: the requested cycle, its periods, and the window in each.
 * control.c makes the calls. On the agent's own thread, except where marked.
 */
#ifndef LIBCUPTI_USDT_EMIT_SAMPLE_WINDOWS_H
#define LIBCUPTI_USDT_EMIT_SAMPLE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct cuda_status;

/* Once, with the number of this load of the library. */
void sample_windows__prepare(uint64_t instance);
/* What is wanted from now on, by group; a cycle begins, goes on, changes or ends with it. */
void sample_windows__follow(uint32_t wanted, uint64_t now);
/* Of `wanted`: what CUPTI should collect now. */
uint32_t sample_windows__groups(uint32_t wanted);
/* It is time to open the window of this period, or to close it. */
bool sample_windows__is_due(uint64_t now);
/* With these groups, a window switches kinds of records, and not PC sampling alone. */
bool sample_windows__have_kinds(uint32_t groups);
/* The window could not be opened or closed: it is due again in 100 ms. */
void sample_windows__put_off(uint64_t now);
/* The window opens: before and after CUPTI is switched on; it closes: before CUPTI is switched off.
 */
void sample_windows__open(void);
void sample_windows__opened(uint64_t now);
void sample_windows__close(uint64_t now);
bool sample_windows__is_open(void);
/* The window opens at once (or is open), and has its usual length from sample_windows__release()
 * on. */
void sample_windows__keep_open(uint64_t now);
void sample_windows__release(uint64_t now);
/* Milliseconds to sleep of at most so many: a window must not end late. */
uint32_t sample_windows__pause(uint32_t milliseconds, uint64_t now);
/* A window's records may still come: CUPTI must be flushed for them now. */
bool sample_windows__lingers(uint64_t now);
/* Fills in the sampling fields of the agent's status. */
void sample_windows__tell(struct cuda_status *status);

#endif
