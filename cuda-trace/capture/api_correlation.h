/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts driver calls under the runtime call that made them. They return first, and their records may
 * arrive before or after its record: both are kept for a moment. The tool's one thread.
 */
#ifndef CUDA_TRACE_CAPTURE_API_CORRELATION_H
#define CUDA_TRACE_CAPTURE_API_CORRELATION_H

#include "cuda-trace/capture/process.h"

struct calls;

/* `parent`: the runtime call that made it, whether that was emitted or not; NULL = none, or
 * unknown. */
typedef void (*calls_emit)(void *context, struct process *process, const struct cuda_api *call,
			   const struct cuda_api *parent);

struct calls *api_correlation__new(calls_emit emit, void *context);
void api_correlation__free(struct calls *calls);
/* Emits now or later: a runtime call, then the driver calls inside it, in order. */
void api_correlation__add(struct calls *calls, struct process *process,
			  const struct cuda_api *call);
/* To be called several times a second, more often than the agent's threads send. */
void api_correlation__tick(struct calls *calls);
/* Emits the pending calls of a process. */
void api_correlation__end(struct calls *calls, struct process *process);

#endif
