/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the threads of this process run, as far as /proc shows. On the agent's own thread alone.
 */
#ifndef LIBCUPTI_USDT_BASE_THREAD_PROGRESS_H
#define LIBCUPTI_USDT_BASE_THREAD_PROGRESS_H

#include <stdint.h>

enum thread_progress {
	THREADS_RAN,
	THREADS_WAIT, /* some want a CPU, or are stopped by a tracer, and have not run in that time
		       */
	THREADS_UNKNOWN, /* the process cannot see its own threads (no /proc), or has too many */
};

/*
 * Waits, at most so long, until each thread of the process that wants a CPU, or that a tracer has
 * stopped, has had one for a moment: then none is still in the middle of the few instructions that
 * it was in.
 */
enum thread_progress thread_progress__wait(uint32_t milliseconds);

#endif
