/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why GPUs were idle: docs/internals/idle.md. Filled record by record; the sums are there when all
 * processes have ended. One thread.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_H
#define CUDA_TRACE_IDLE_IDLE_H

#include "cuda-trace/idle/idle_causes.h"
#include "libcupti-usdt/probes.h"

struct idle;
struct process;
struct session;

/* What a session must deliver for it beside kernels and copies: CUDA calls that may take long. */
#define IDLE_CALL_GROUPS                                                                       \
	(1u << CUDA_GROUP_API_SYNC | 1u << CUDA_GROUP_API_COPY | 1u << CUDA_GROUP_API_MEMORY | \
	 1u << CUDA_GROUP_API_MODULE | 1u << CUDA_GROUP_API_CONTEXT)

struct idle_sums {
	uint64_t window_ns; /* first event to the end of the last, of all processes */
	uint64_t whole_ns;  /* that, of each GPU */
	uint64_t idle_ns;
	uint64_t gaps;
	uint64_t late;	     /* operations that came when their time was explained already */
	uint64_t lost;	     /* records of waits */
	uint64_t left_out;   /* records and threads for which there was no memory or no place */
	const char *reduced; /* what is missing, a sentence without a period; NULL = nothing */
	uint32_t count;
	struct idle_cause_sum causes[IDLE_CAUSE_COUNT]; /* longest first, "unexplained" last */
};

/* NULL: no memory. The others accept NULL. */
struct idle *idle__new(void);
void idle__free(struct idle *idle);
/* The session is attached, nothing has come yet. */
void idle__attach(struct idle *idle, const struct session *session);
void idle__start(struct idle *idle, struct process *process);
void idle__record(struct idle *idle, struct process *process, const struct cuda_record *record);
void idle__end(struct idle *idle, struct process *process);
/* Several times a second. */
void idle__tick(struct idle *idle);
/* NULL = there was no operation on a GPU with times. Valid until the free. */
const struct idle_sums *idle__finish(struct idle *idle);

#endif
