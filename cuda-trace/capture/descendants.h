/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a watched program started, and what of it still runs. The eBPF program keeps the list: forks
 * add to it, ends remove.
 */
#ifndef CUDA_TRACE_CAPTURE_DESCENDANTS_H
#define CUDA_TRACE_CAPTURE_DESCENDANTS_H

#include "cuda-trace/capture/session.h"

/* At most `max` of the processes that run, `but` left out; how many they are, which may be more. */
uint32_t descendants__list(const struct session *session, uint32_t but, uint32_t *pids,
			   uint32_t max);
/* One line on stderr if PROGRAM has ended and others that it started run on. */
void descendants__say(const char *command, const struct session *session, uint32_t program);
/* What process_maps__remark() says, unless the process is no CUDA program and what it started is.
 */
void descendants__remark(const struct session *session, uint32_t pid, bool attaches);

#endif
