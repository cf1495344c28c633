/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that makes CUPTI return its buffers. Started when the agent first becomes active. */
#ifndef LIBCUPTI_USDT_TRACE_FLUSHER_H
#define LIBCUPTI_USDT_TRACE_FLUSHER_H

#include <stdbool.h>
#include <stdint.h>

/* 0 or -errno; further calls do nothing. */
int flusher__start(void);
/* Requests a flush soon; never waits. On any thread. */
void flusher__ask(void);
/* Likewise, and wakes the agent's thread when that is done. */
void flusher__flush_all(void);
/* ns, when the last of these began that is done; 0 = none is. */
uint64_t flusher__flushed(void);
/* Until false, this thread sends the status some times a second: the agent's own one is inside of
 * CUPTI meanwhile. Waits 0.1 s at most for what is just being sent. */
void flusher__tell_first(bool under_way);

#endif
