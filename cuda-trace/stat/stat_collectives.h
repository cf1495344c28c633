/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of NCCL → the kernels that they launched, of one process. A call, or the end of its group,
 * is followed by the launch on the same thread; the launch's correlation id leads to the kernel.
 */
#ifndef CUDA_TRACE_STAT_STAT_COLLECTIVES_H
#define CUDA_TRACE_STAT_STAT_COLLECTIVES_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/stat/stat_comms.h"

struct stat_collectives;

/* timed: the process's launches and kernels come, too. NULL: no memory. All of these accept NULL.
 */
struct stat_collectives *stat_collectives__new(struct stat_comms *comms, bool timed);
/* In the order in which the process made its calls; before the records of their launches. */
void stat_collectives__call(struct stat_collectives *collectives, const struct process *process,
			    const struct event_collective *call);
void stat_collectives__launch(struct stat_collectives *collectives, const struct process *process,
			      const struct cuda_launch *launch);
void stat_collectives__kernel(struct stat_collectives *collectives, const struct process *process,
			      const struct cuda_kernel *kernel);
/* The process has ended. */
void stat_collectives__free(struct stat_collectives *collectives);

#endif
