/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The eBPF programs that observe the threads of watched processes: their life, and what they
 * report. One thread.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_EVIDENCE_H
#define CUDA_TRACE_IDLE_IDLE_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/idle.h"

struct session;
struct idle_evidence;

/* May be called from idle_evidence__read() only; sample or wait is NULL. */
typedef void (*idle_evidence_sink)(void *context, const struct idle_wait *wait,
				   const struct idle_sample *sample);

/* Never NULL unless memory is short: see idle_evidence__reduced(). */
struct idle_evidence *idle_evidence__new(const struct session *session, idle_evidence_sink sink,
					 void *context);
/* A process that the session's filter does not name by number. */
void idle_evidence__add(struct idle_evidence *evidence, uint32_t pid);
void idle_evidence__read(struct idle_evidence *evidence);
/* Detaches, then reports what lies in the maps: waits that have not ended, too. */
void idle_evidence__finish(struct idle_evidence *evidence);
/* Reports the last wait of each thread that lives, and its present one as if it ended now: they
 * will be reported again. */
void idle_evidence__present(struct idle_evidence *evidence);
/* A Python function of a process. False: it was forgotten, or another is there now. */
bool idle_evidence__code(const struct idle_evidence *evidence, uint32_t pid,
			 const struct idle_frame *frame, struct idle_code *code);
/* How many addresses; 0 = the stack is not known. */
uint32_t idle_evidence__stack(const struct idle_evidence *evidence, int32_t stack,
			      uint64_t addresses[IDLE_STACK_DEPTH]);
void idle_evidence__counters(const struct idle_evidence *evidence, struct idle_counters *counters);
/* CPU time of the programs, while the kernel measures it. */
uint64_t idle_evidence__run_ns(const struct idle_evidence *evidence);
/* What is missing, as a sentence without a period; NULL = nothing. Scheduler events are there if
 * *scheduler. */
const char *idle_evidence__reduced(const struct idle_evidence *evidence, bool *scheduler);
void idle_evidence__free(struct idle_evidence *evidence);

#endif
