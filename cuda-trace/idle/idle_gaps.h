/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of each GPU, the gaps between them, and the cause of each. Used by idle.c.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_GAPS_H
#define CUDA_TRACE_IDLE_IDLE_GAPS_H

#include "cuda-trace/idle/idle.h"
#include "cuda-trace/idle/idle_path.h"

struct idle_functions;
struct idle_observed;
struct idle_gaps;

struct idle_gaps *idle_gaps__new(struct idle_timeline *timeline, struct idle_functions *functions);
void idle_gaps__free(struct idle_gaps *gaps);
/* Only what was observed is explained; the caller's. follows: idle_gaps__close() is called all
 * along, with waits that have not ended. */
void idle_gaps__sample(struct idle_gaps *gaps, struct idle_observed *observed, bool follows);
/* To be kept true by the caller. */
struct idle_known *idle_gaps__know(struct idle_gaps *gaps);
void idle_gaps__record(struct idle_gaps *gaps, struct idle_host *host,
		       const struct cuda_record *record);
/* See idle__waited(). */
void idle_gaps__waited(struct idle_gaps *gaps, struct idle_host *host,
		       const struct collective_wait *wait);
/* Its devices may be others from now on. */
void idle_gaps__leave(struct idle_gaps *gaps, struct idle_host *host);
size_t idle_gaps__size(const struct idle_gaps *gaps);
/* Explains the gaps that end before that. *before: from when on the timeline is still needed.
 * False: there was no GPU. */
bool idle_gaps__close(struct idle_gaps *gaps, uint64_t until, uint64_t *before);
/*
 * For a command that shows it live: also explains gaps that last, by the second, but none that a
 * launch without its work may have ended. A GPU counts from its first operation on, and while it
 * lasts for as long as a process lives that has used it. present: waits that have not ended are
 * there. Nothing is forgotten; *before: from when on the timeline is still needed.
 */
void idle_gaps__follow(struct idle_gaps *gaps, uint64_t until, bool present, uint64_t *before);
/* See idle__on_gap(). */
void idle_gaps__notify(struct idle_gaps *gaps, idle_gap_handler handle, void *context);
/* Marks in the timeline what is still referred to. */
void idle_gaps__keep(struct idle_gaps *gaps);
/* By GPU, and how many; causes of all of them. */
uint32_t idle_gaps__gpus(const struct idle_gaps *gaps, struct idle_gpu gpus[GPU_SET_MAX]);
/* See idle__recent(). */
void idle_gaps__recent(const struct idle_gaps *gaps, uint32_t gpu, enum idle_cause cause,
		       char out[IDLE_PLACE_LEN]);
void idle_gaps__sums(const struct idle_gaps *gaps, struct idle_sums *sums);
/* The same of all that is left; false: no operation came. */
bool idle_gaps__finish(struct idle_gaps *gaps, struct idle_sums *sums);

#endif
