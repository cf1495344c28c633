/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which records belong to the observed time. Launches, calls and waits do if they began in
 * it. Kernels do if their launch did; at the beginning also kernels that were launched before and
 * were still running. GPU records arrive later than those of calls, also after the end.
 */
#ifndef CUDA_TRACE_CAPTURE_LAUNCH_WINDOW_H
#define CUDA_TRACE_CAPTURE_LAUNCH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/capture/process.h"

struct launch_window;

typedef void (*launch_window_deliver)(void *context, struct process *process,
				      const struct cuda_record *record);

/* launches: records of launches come, too, from agents that send them. NULL = no memory. */
struct launch_window *launch_window__new(bool launches, launch_window_deliver deliver,
					 void *context);
void launch_window__free(struct launch_window *window);
/* Delivers the record now, later or never. */
void launch_window__take(struct launch_window *window, struct process *process,
			 const struct cuda_record *record);
/* What begins at this time (ns) or later is outside. */
void launch_window__close(struct launch_window *window, uint64_t end);
/* That time, or 0: not closed yet. */
uint64_t launch_window__end(const struct launch_window *window);
/* No more records will come from this process: delivers or drops those that were kept back. */
void launch_window__finish(struct launch_window *window, struct process *process);

#endif
