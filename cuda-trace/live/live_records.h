/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What live.h does with single records beside the kernel's sums, if it is wanted: gaps of GPUs and
 * their causes, collectives and their ranks. Used by live.c.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_RECORDS_H
#define CUDA_TRACE_LIVE_LIVE_RECORDS_H

#include "cuda-trace/live/live.h"
#include "cuda-trace/live/live_collectives.h"
#include "cuda-trace/live/live_idle.h"

/* NULL = not wanted. */
struct live_records {
	struct idle *idle;
	struct live_collectives *collectives;
};

/* Adds to the session's options what they need. False: no memory. */
bool live_records__open(struct live_records *records, const struct live_options *options,
			struct session_options *session);
void live_records__start(struct live_records *records, struct process *process);
/* As a sink has them; the context is a struct live_records. */
void live_records__record(void *context, struct process *process, const struct cuda_record *record);
void live_records__collective(void *context, struct process *process,
			      const struct event_collective *call,
			      const struct recorded_kernel *kernel);
void live_records__end(struct live_records *records, struct process *process);
void live_records__follow(struct live_records *records, struct live_pace *pace);
/* See live__wait(). */
void live_records__wait(const struct live_records *records, const struct session *session,
			int timeout_ms);
void live_records__free(struct live_records *records);

#endif
