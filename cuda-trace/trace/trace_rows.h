/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of `trace`, as text or JSON, for a launch, its kernel, or both.
 */
#ifndef CUDA_TRACE_TRACE_TRACE_ROWS_H
#define CUDA_TRACE_TRACE_TRACE_ROWS_H

#include <stdbool.h>
#include <stdio.h>
#include "cuda-trace/capture/process.h"
#include "cuda-trace/capture/session.h"

struct trace_rows;

struct trace_rows *trace_rows__new(FILE *output, bool json, bool wide);
void trace_rows__free(struct trace_rows *rows);
void trace_rows__put(struct trace_rows *rows, struct process *process,
		     const struct cuda_launch *launch, const struct cuda_kernel *kernel);
/* An event that is neither launch nor kernel; false = not one that is shown. */
bool trace_rows__put_event(struct trace_rows *rows, struct process *process,
			   const struct cuda_record *record);
/* The same for a call of NCCL. */
bool trace_rows__put_collective(struct trace_rows *rows, struct process *process,
				const struct event_collective *call);
/* The same for a call that this kernel of a graph's replay stands for; turn: see trace_replays.h.
 */
void trace_rows__put_replay(struct trace_rows *rows, struct process *process,
			    const struct event_collective *call, const struct cuda_kernel *kernel,
			    int64_t turn);
/* `parent`: the runtime call that made it, or NULL; `inner`: it stands in a line above. */
void trace_rows__put_call(struct trace_rows *rows, struct process *process,
			  const struct cuda_api *call, const struct cuda_api *parent, bool inner);
/* Writes lines before which no others can arrive any more; to be called several times a second. */
void trace_rows__tick(struct trace_rows *rows);
/* The process has ended: forgets what was kept of it. */
void trace_rows__forget(struct trace_rows *rows, struct process *process);
/* JSON: a last object; text: a line on stderr, only if something was lost. */
void trace_rows__put_losses(struct trace_rows *rows, const struct session_lost_counts *lost);

#endif
