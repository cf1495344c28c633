/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of program counters, window by window. control.c says when, on the agent's own thread;
 * none of it waits for CUPTI, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_PC_SAMPLING_H
#define LIBCUPTI_USDT_PROFILE_PC_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* The group is wanted or not, a window is open or not, from now on: 0, or it cannot be had, and
 * that was reported. from_first: the program has not launched anything yet, and its first launch
 * waits for a window. */
int pc_sampling__switch(void *subscriber, bool on, bool window, bool from_first);
/* On a thread that is about to launch, or to have the driver copy or fill (`launches` is false):
 * the first launch gets a window, which it waits for, at most 3 s. */
void pc_sampling__begin_launch(bool launches);
/* On a thread that is about to end a context: closes that window, which would be lost with it.
 * Waits at most 0.3 s. */
void pc_sampling__close_first(void);
/* What can be had of groups that are wanted, with those that are on: samples end before the groups
 * go off that report launches, and kernels give way to them. */
uint32_t pc_sampling__settle(uint32_t groups, uint32_t groups_on);
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
