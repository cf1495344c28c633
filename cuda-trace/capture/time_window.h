/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a moment of the wall clock on: a sink that passes on what begins then, and not after so much
 * time. It stands before collection.h, which then counts steps from that moment on. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_TIME_WINDOW_H
#define CUDA_TRACE_CAPTURE_TIME_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/capture/session.h"

struct time_window;

struct time_window_begin {
	uint64_t utc, monotonic; /* ns: the same moment by two clocks */
	uint64_t late_ns;	 /* attaching took until so long after the wanted time */
};

/* Between the session and this sink, which must stay. `utc`: ns since 1970; `length`: ns, 0 = no
 * end. NULL = no memory. */
struct time_window *time_window__new(uint64_t utc, uint64_t length, const struct sink *sink);
void time_window__free(struct time_window *window);
/* What the session is to be opened with. */
const struct sink *time_window__sink(const struct time_window *window);
/* Everything is attached now: no time before this is known. */
void time_window__attached(struct time_window *window);
/* Whether the time has come; call it several times a second. */
bool time_window__has_begun(struct time_window *window);
const struct time_window_begin *time_window__begin(const struct time_window *window);

#endif
