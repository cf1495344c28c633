/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matches a launch, as the host saw it, with its kernels, as the GPU timed them, by process and
 * correlation id. They arrive in any order and some 100 ms apart.
 */
#ifndef CUDA_TRACE_CAPTURE_LAUNCH_CORRELATION_H
#define CUDA_TRACE_CAPTURE_LAUNCH_CORRELATION_H

#include "cuda-trace/capture/process.h"

struct join;

/* Either may be NULL: a launch whose kernel did not arrive, or a kernel whose launch did not. */
typedef void (*join_emit)(void *context, struct process *process, const struct cuda_launch *launch,
			  const struct cuda_kernel *kernel);

struct join *launch_correlation__new(join_emit emit, void *context);
void launch_correlation__free(struct join *join);
void launch_correlation__launch(struct join *join, struct process *process,
				const struct cuda_launch *launch);
void launch_correlation__kernel(struct join *join, struct process *process,
				const struct cuda_kernel *kernel);
/* Emits what has waited too long; to be called several times a second. */
void launch_correlation__expire(struct join *join);
/* Emits what is pending of this process. */
void launch_correlation__end(struct join *join, struct process *process);

#endif
