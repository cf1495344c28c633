/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why GPUs were idle, of a recording made with record --idle: what threads did and their calls
 * that may take long, beside the records that are played.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_IDLE_H
#define CUDA_TRACE_REPORT_REPORT_IDLE_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/idle/idle.h"
#include "cuda-trace/report/report_file.h"

struct report_idle;

bool report_idle__any(const struct report_file *file);
/* Why there are no causes though what threads did was recorded; NULL = there are, or it was not. */
const char *report_idle__unknown(const struct report_file *file);
/* *idle stays NULL where the recording has none. 0 or -errno, printed. The others accept NULL. */
int report_idle__open(struct report_idle **idle, const struct report_file *file);
/* Times as in the recording; see idle__on_gap(). */
void report_idle__on_gap(struct report_idle *idle, idle_gap_handler handle, void *context);
void report_idle__waited(struct report_idle *idle, const struct collective_wait *wait);
/* In the order in which they are played. */
void report_idle__record(struct report_idle *idle, struct process *process,
			 const struct cuda_record *record);
void report_idle__end(struct report_idle *idle, struct process *process);
/* When all processes have ended; NULL = there was no operation. Valid until the close. */
const struct idle_sums *report_idle__finish(struct report_idle *idle);
/* What went wrong, printed where it did; 0 = nothing. */
int report_idle__close(struct report_idle *idle);

#endif
