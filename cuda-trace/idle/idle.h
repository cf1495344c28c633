/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why GPUs were idle: docs/internals/idle.md. Filled record by record; the sums are there when all
 * processes have ended. One thread.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_H
#define CUDA_TRACE_IDLE_IDLE_H

#include "cuda-trace/base/gpu_set.h"
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/idle/idle_causes.h"
#include "cuda-trace/idle/idle_timeline.h"
#include "libcupti-usdt/probes.h"

/* Of one GPU: the sum over causes is the time in which it was idle. */
struct idle_gpu {
	uint32_t ordinal; /* in the first process that used it */
	bool known;	  /* what follows is */
	uint8_t uuid[16], mig_uuid[16];
	uint64_t whole_ns;	       /* explained until now, idle or busy */
	uint64_t ns[IDLE_CAUSE_COUNT]; /* idle, by cause */
};

struct idle;
struct process;
struct session;

/* What a session must deliver for it beside kernels and copies: CUDA calls that may take long. */
#define IDLE_CALL_GROUPS                                                                       \
	(1u << CUDA_GROUP_API_SYNC | 1u << CUDA_GROUP_API_COPY | 1u << CUDA_GROUP_API_MEMORY | \
	 1u << CUDA_GROUP_API_MODULE | 1u << CUDA_GROUP_API_CONTEXT)

struct idle_missing {
	uint64_t late, lost, left_out; /* as in struct idle_sums */
	const char *reduced;
};

struct idle_sums {
	uint64_t window_ns;   /* first event to the end of the last, of all processes */
	uint64_t whole_ns;    /* that, of each GPU */
	uint64_t observed_ns; /* of these: idle_ns is of this time */
	bool sampled;	      /* see idle__sample() */
	double overhead;      /* see idle__limit(); below 0 = not known */
	uint64_t stopped_ns;  /* from the start on; 0 = it was not */
	uint64_t idle_ns;
	uint64_t gaps;
	uint64_t late;	     /* operations that came when their time was explained already */
	uint64_t lost;	     /* records of waits */
	uint64_t left_out;   /* records and threads for which there was no memory or no place */
	const char *reduced; /* what is missing, a sentence without a period; NULL = nothing */
	uint32_t count;
	struct idle_cause_sum causes[IDLE_CAUSE_COUNT]; /* longest first, "unexplained" last */
};

/* NULL: no memory. The others accept NULL. follows: idle__follow() will be called. */
struct idle *idle__new(bool follows);
void idle__free(struct idle *idle);
/* Kernels are timed in windows only: only what lies in observed time is explained. Before anything
 * comes. False: no memory. */
bool idle__sample(struct idle *idle);
/* With idle__sample(), several times a second: measures what the evidence costs, as a part of the
 * time, and stops it where that is more than the limit. *part: as measured last, 0 before. True: it
 * has been stopped just now. */
bool idle__limit(struct idle *idle, double limit, double *part);
/* The session is attached, nothing has come yet. */
void idle__attach(struct idle *idle, const struct session *session);
void idle__start(struct idle *idle, struct process *process);
void idle__record(struct idle *idle, struct process *process, const struct cuda_record *record);
void idle__end(struct idle *idle, struct process *process);
/* Of each gap, once it is explained: the process whose operation ended it, or would have (0 =
 * unknown). The time is ns as records have it. */
typedef void (*idle_gap_handler)(void *context, uint32_t pid, enum idle_cause cause, uint64_t from,
				 uint64_t to);
void idle__on_gap(struct idle *idle, idle_gap_handler handle, void *context);
/* Such a wait is no work. Before or after the kernel's record, as long as its time is not
 * explained. */
void idle__waited(struct idle *idle, const struct collective_wait *wait);
/* Several times a second. */
void idle__tick(struct idle *idle);
/*
 * For commands that show it live, instead of idle__finish(): called several times a second, it
 * explains once a second what is older than a second (with idle__sample(): than three), and forgets
 * it. True: it has.
 */
bool idle__follow(struct idle *idle);
/* As followed until now. The sums are valid until the next call. */
const struct idle_sums *idle__sums(struct idle *idle);
uint32_t idle__gpus(const struct idle *idle, struct idle_gpu gpus[GPU_SET_MAX]);
/* Where most of a GPU's gaps with that cause were lately; untrusted, "" = not known. gpu: its index
 * in idle__gpus(). */
void idle__recent(const struct idle *idle, uint32_t gpu, enum idle_cause cause,
		  char out[IDLE_PLACE_LEN]);
/* What is missing of idle__sums(), without the causes. */
void idle__missing(const struct idle *idle, struct idle_missing *missing);
/*
 * Of a recording, instead of idle__attach() and idle__tick(): are there waits, and what is missing
 * of them (NULL = nothing); its waits, samples and calls, each sort in order; and that it has all
 * before `until`, less a second. idle__lost(): waits were lost from then to then.
 */
void idle__replay(struct idle *idle, bool scheduler, const char *reduced);
void idle__past(struct idle *idle, const struct idle_past *past);
void idle__lost(struct idle *idle, uint64_t from, uint64_t to);
void idle__call(struct idle *idle, uint32_t pid, uint32_t tid, const struct idle_call *call,
		const char *name);
/* The same call, with idle__sample(): it was in this context. */
void idle__call_in(struct idle *idle, uint32_t pid, uint32_t context, const struct idle_call *call,
		   const char *name);
void idle__progress(struct idle *idle, uint64_t until);
/* NULL = there was no operation on a GPU with times. Valid until the free. */
const struct idle_sums *idle__finish(struct idle *idle);

#endif
