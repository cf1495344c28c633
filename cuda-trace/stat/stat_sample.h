/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `stat --sample` knows of one process: records of windows, and what they make of the whole.
 */
#ifndef CUDA_TRACE_STAT_STAT_SAMPLE_H
#define CUDA_TRACE_STAT_STAT_SAMPLE_H

#include "cuda-trace/base/cluster_estimate.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/stat/stat_events.h"

struct stat_kernel;
struct stat_sums;
struct stat_sample;

/* Of one kernel: launched by itself, and as part of graphs. */
struct stat_sampled {
	struct estimate_sums plain;
	struct estimate_sums graph;
};

/* The cycle and how long windows were open, of one process or of all. */
struct stat_windows {
	uint32_t on_ms, every_ms; /* as it was last */
	uint64_t windows;
	uint64_t open_ns;
	uint64_t watched_ns;
};

struct stat_sample *stat_sample__new(void);
void stat_sample__free(struct stat_sample *sample);
/* *of: of the kernel, made here; left NULL without memory. */
void stat_sample__kernel(struct stat_sample *sample, const struct process *process,
			 struct stat_sampled **of, const struct cuda_kernel *kernel);
/* A copy or memset; `line`: the index of its line in its process's events. */
void stat_sample__copy(struct stat_sample *sample, const struct process *process, int line,
		       const struct cuda_record *record);
/* Turns the sums of a kernel into estimates; graph_launches: of the process. */
void stat_sample__estimate(const struct stat_sample *sample, const struct stat_sampled *of,
			   uint64_t graph_launches, struct stat_kernel *kernel);
/* Likewise those of copies and memsets. */
void stat_sample__estimate_copies(const struct stat_sample *sample, const struct process *process,
				  struct stat_events *events);
/* Of one process; and added to those of others. */
void stat_sample__windows(const struct process *process, struct stat_windows *windows);
void stat_sample__add_windows(const struct process *process, struct stat_windows *sum);

#endif
