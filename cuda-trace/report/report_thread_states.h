/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads did, from CUDA_TRACE_THREAD_STATES: one thread after the other, without overlaps.
 * Between two waits a thread ran, unless waits were lost then.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_THREAD_STATES_H
#define CUDA_TRACE_REPORT_REPORT_THREAD_STATES_H

#include "cuda-trace/report/report_file.h"

enum report_thread_state {
	THREAD_RUNNING,
	THREAD_RUNNABLE,
	THREAD_BLOCKED,
	THREAD_UNKNOWN, /* waits were lost */
};

struct report_thread_span {
	int64_t global; /* globalTid */
	int64_t start, end;
	enum report_thread_state state;
	char name[160];	       /* "running", "blocked: futex()"; clean */
	char function[320];    /* "" = not known; clean, as the next one */
	char other[80];	       /* who woke it; of a runnable one, who ran; "" = not known */
	int64_t off, runnable; /* ns of it: off the CPU, and of these runnable */
};

bool report_thread_states__any(const struct report_file *file);
/* 0 or -errno, printed. invalid: rows whose times are none are counted there. */
int report_thread_states__each(const struct report_file *file,
			       void (*each)(void *context, const struct report_thread_span *span),
			       void *context, uint64_t *invalid);

#endif
