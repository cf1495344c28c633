/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Brings the two halves of an event together: the launch as the host saw it and the kernel as the
 * GPU stamped it, by process and correlation id. They come in any order and some 100 ms apart.
 */
#ifndef CUDA_TRACE_CAPTURE_LAUNCH_CORRELATION_H
#define CUDA_TRACE_CAPTURE_LAUNCH_CORRELATION_H

#include "cuda-trace/capture/process.h"

struct join;

/* Either half may be NULL: a launch whose kernel did not come, or a kernel whose launch did not. */
typedef void (*join_emit)(void *context, struct process *process, const struct cuda_launch *launch,
			  const struct cuda_kernel *kernel);

struct join *launch_correlation__new(join_emit emit, void *context);
void launch_correlation__free(struct join *join);
void launch_correlation__launch(struct join *join, struct process *process,
				const struct cuda_launch *launch);
void launch_correlation__kernel(struct join *join, struct process *process,
				const struct cuda_kernel *kernel);
/* Emits what waited too long; to be called some times a second. */
void launch_correlation__expire(struct join *join);
/* Emits all that waits for this process. */
void launch_correlation__end(struct join *join, struct process *process);

#endif
