/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums since the start for metrics in OTLP: when each GPU was busy with kernels of observed
 * programs, and the kernels of each process. Uses `recorded` of struct process. One thread.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_METRICS_H
#define CUDA_TRACE_PUSH_PUSH_METRICS_H

#include "cuda-trace/base/interval_set.h"
#include "cuda-trace/base/gpu_set.h"
#include "cuda-trace/push/push_profile.h"

#define PUSH_METRICS_SERIES 4096 /* processes on GPUs; the kernels of others are not in them */

struct push_gpu {
	struct interval_set busy;
	uint64_t busy_before; /* at the last report */
	uint64_t memory;      /* bytes; 0 = not known */
	char model[64];	      /* clean */
};

/* The kernels of a process on one of its devices. */
struct push_series {
	struct push_source source;
	int64_t device;
	uint64_t since; /* ns since 1970 */
	uint64_t kernels, ns;
	unsigned int silent; /* intervals without any */
};

struct push_metrics {
	struct gpu_set set;
	struct push_gpu gpus[GPU_SET_MAX];
	struct push_series *series;
	uint32_t series_count;
	uint64_t since;	   /* ns since 1970: the GPUs' sums begin */
	uint64_t left_out; /* kernels that found no series */
};

/* since: ns since 1970. NULL = no memory. */
struct push_metrics *push_metrics__new(uint64_t since);
void push_metrics__start(struct push_metrics *metrics, struct process *process);
void push_metrics__record(struct push_metrics *metrics, struct process *process,
			  const struct cuda_record *record);
void push_metrics__end(struct push_metrics *metrics, struct process *process);
/* The profile of a process (push_profile__take() with by_pid) in the interval that began then. */
void push_metrics__add(struct push_metrics *metrics, const struct push_source *source,
		       const struct stacks *stacks, uint64_t from);
/* An interval was reported. */
void push_metrics__next(struct push_metrics *metrics);
void push_metrics__free(struct push_metrics *metrics);

#endif
