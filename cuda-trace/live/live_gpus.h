/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifies GPUs, which processes may number differently. */
#ifndef CUDA_TRACE_LIVE_LIVE_GPUS_H
#define CUDA_TRACE_LIVE_LIVE_GPUS_H

#include "cuda-trace/live/live.h"

/* The GPU behind a device of a process, as numbered in struct aggregate_state; -1 = not known. */
int live_gpus__of(const struct live_process *process, uint32_t device);
/* "GPU-..." as nvidia-smi prints it, or "MIG-..." of a part of one. */
void live_gpus__uuid(char out[48], const struct cuda_device *device);

#endif
