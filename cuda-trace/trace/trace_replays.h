/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collectives that CUDA graphs replay, for `trace`: NCCL is called once, while the graph is
 * captured, and each replay's kernels do what these calls say. One thread. All of these accept
 * NULL.
 */
#ifndef CUDA_TRACE_TRACE_TRACE_REPLAYS_H
#define CUDA_TRACE_TRACE_TRACE_REPLAYS_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/capture/session.h"

struct trace_replays;

/* For each call that a kernel of a replay stands for; `call` as it was captured. turn: from 0; -1 =
 * not known. */
typedef void (*trace_replays_put)(void *context, struct process *process,
				  const struct event_collective *call,
				  const struct cuda_kernel *kernel, int64_t turn);

struct trace_replays *trace_replays__new(trace_replays_put put, void *context);
void trace_replays__call(struct trace_replays *replays, struct process *process,
			 const struct event_collective *call);
/* Launches, nodes of graphs and kernels; others are ignored. */
void trace_replays__record(struct trace_replays *replays, struct process *process,
			   const struct cuda_record *record);
/* Kernels of NCCL in graphs for which no call is known: the capture was not observed, or there were
 * too many. */
uint64_t trace_replays__unknown(const struct trace_replays *replays);
/* The process has ended. */
void trace_replays__end(struct trace_replays *replays, const struct process *process);
void trace_replays__free(struct trace_replays *replays);

#endif
