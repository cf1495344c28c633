/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Driver calls under the runtime call that made them. They return first, and may come before or
 * after it: both wait for a moment. The tool's one thread.
 */
#ifndef CUDA_TRACE_CAPTURE_API_CORRELATION_H
#define CUDA_TRACE_CAPTURE_API_CORRELATION_H

#include "cuda-trace/capture/process.h"

struct calls;

/* `parent`: the runtime call that it was made by, as it was shown or not; NULL = none, or unknown.
 */
typedef void (*calls_emit)(void *context, struct process *process, const struct cuda_api *call,
			   const struct cuda_api *parent);

struct calls *api_correlation__new(calls_emit emit, void *context);
void api_correlation__free(struct calls *calls);
/* Emits now or later: a runtime call, then what it made, in order. */
void api_correlation__add(struct calls *calls, struct process *process,
			  const struct cuda_api *call);
/* Some times a second, and more than the agent's threads send in. */
void api_correlation__tick(struct calls *calls);
/* Emits all that waits of a process. */
void api_correlation__end(struct calls *calls, struct process *process);

#endif
