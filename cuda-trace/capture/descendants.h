/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that a watched program started, and which of them still run. The eBPF program keeps
 * the list: a fork adds a process, its end removes it.
 */
#ifndef CUDA_TRACE_CAPTURE_DESCENDANTS_H
#define CUDA_TRACE_CAPTURE_DESCENDANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda-trace/capture/session.h"

/* Is it one of them? Any process is, where the session is not limited to some. */
bool descendants__include(const struct session *session, uint32_t pid);
/* Lists at most `max` of those that run, without `but`. Returns how many there are, maybe more. */
uint32_t descendants__list(const struct session *session, uint32_t but, uint32_t *pids,
			   uint32_t max);
/* Prints a line on stderr if PROGRAM has ended and processes that it started still run. */
void descendants__say(const char *command, const struct session *session, uint32_t program);
/* Like process_maps__remark(), unless only processes that it started are CUDA programs. */
void descendants__remark(const struct session *session, uint32_t pid, bool attaches);

#endif
