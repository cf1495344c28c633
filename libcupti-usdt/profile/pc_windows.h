/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls to CUPTI, window by window, and what becomes of its answers. On the thread of
 * pc_sampling.c, but for what is marked; any of it may take as long as CUPTI likes.
 */
#ifndef LIBCUPTI_USDT_PROFILE_PC_WINDOWS_H
#define LIBCUPTI_USDT_PROFILE_PC_WINDOWS_H

#include <stdbool.h>

/* Memory, once; 0 or -errno. On the agent's own thread, before any of the others. */
int pc_windows__prepare(void);
/* Every context that is known is started, or stopped and its samples handed out. These and the last
 * two hold launches meanwhile; false: one that is under way does not end, and nothing was done. */
bool pc_windows__open(void);
bool pc_windows__close(void);
/* Of a window that goes on: what there is until now, handed out; contexts that came, started. */
void pc_windows__part(void);
/* Nothing is enabled any more, but may be again. */
bool pc_windows__make_way(void);
/* The same, for good: contexts are forgotten, memory is freed. */
bool pc_windows__end(void);

#endif
