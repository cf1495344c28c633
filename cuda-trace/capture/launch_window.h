/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies in the time that was watched. Launches, calls and waits do if they began in it. Kernels
 * do if their launch did, and at its beginning also those that were launched before and were still
 * running: GPU records come later than the calls, and go on coming after the end.
 */
#ifndef CUDA_TRACE_CAPTURE_LAUNCH_WINDOW_H
#define CUDA_TRACE_CAPTURE_LAUNCH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/capture/process.h"

struct launch_window;

typedef void (*launch_window_deliver)(void *context, struct process *process,
				      const struct cuda_record *record);

/* NULL = no memory. */
struct launch_window *launch_window__new(launch_window_deliver deliver, void *context);
void launch_window__free(struct launch_window *window);
/* Delivers the record now, later or never. */
void launch_window__take(struct launch_window *window, struct process *process,
			 const struct cuda_record *record);
/* What begins from this time on (ns) is outside. */
void launch_window__close(struct launch_window *window, uint64_t end);
/* The time, or 0: not closed yet. */
uint64_t launch_window__end(const struct launch_window *window);
/* No more will come of this process: what was kept back for it is decided on. */
void launch_window__finish(struct launch_window *window, struct process *process);

#endif
