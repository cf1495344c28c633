/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of program counters, window by window. control.c says when, on the guest's own thread;
 * none of it waits for CUPTI, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PC_SAMPLING_H
#define LIBCUPTI_USDT_PC_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* The group is wanted or not, a window is open or not, from now on: 0, or it cannot be had, and
 * that was told. */
int pc_sampling__switch(void *subscriber, bool on, bool window);
/* Before the group goes off: true while that is under way, for which launches must still be told
 * of. */
bool pc_sampling__drain(void);
bool pc_sampling__is_draining(void);
/* A window opens, closes: its samples are handed out then. */
void pc_sampling__start(void);
void pc_sampling__stop(void);
/* Periodic work: contexts that came, calls that do not come back. */
void pc_sampling__tick(void);
/* CUPTI refuses to trace kernels while a context is enabled for sampling, but not the other way
 * round: to be called before that is switched on. Waits, at most half a second. The next start goes
 * on. */
void pc_sampling__make_way(void);
/* The program ends: the window that is open is closed; waits for it, at most 0.3 s. */
void pc_sampling__finish(void);

#endif
