/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of program counters, window by window. control.c says when; all of it on the guest's own
 * thread, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PC_SAMPLING_H
#define LIBCUPTI_USDT_PC_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* The group is wanted from now on: 0, or it cannot be had, and that was told. */
int pc_sampling__begin(void);
/* A window opens, closes: its samples are handed out then. */
void pc_sampling__start(void);
void pc_sampling__stop(void);
/* Of a window that is open: what there is, handed out. Does nothing between windows. */
void pc_sampling__collect(void);
/* CUPTI refuses to trace kernels while a context is enabled for sampling, but not the other way
 * round: to be called before that is switched on. The next start goes on. */
void pc_sampling__make_way(void);
/* Nobody wants it any more. */
void pc_sampling__end(void);

#endif
