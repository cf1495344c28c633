/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where kernels are timed in windows only: when a GPU was observed, that is, whatever ran on it is
 * known. docs/internals/idle.md says what that follows from. Used by idle_gaps.c.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_OBSERVED_H
#define CUDA_TRACE_IDLE_IDLE_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/base/interval_set.h"

struct cuda_api;
struct cuda_launch;
struct idle_host;
struct idle_observed;

/* NULL: no memory. The others accept NULL, where everything is observed. */
struct idle_observed *idle_observed__new(void);
void idle_observed__free(struct idle_observed *observed);
void idle_observed__launch(struct idle_observed *observed, const struct idle_host *host,
			   const struct cuda_launch *launch);
/* A call that waits for all work of its context, at its end. */
void idle_observed__sync(struct idle_observed *observed, const struct idle_host *host,
			 const struct cuda_api *api);
/* An operation of a launch; gpu: whose that context is. */
void idle_observed__work(struct idle_observed *observed, const struct idle_host *host,
			 uint32_t context, uint32_t gpu, uint32_t correlation, uint64_t start,
			 uint64_t end);
/* The process has ended, and with it all of its work: by that time. */
void idle_observed__leave(struct idle_observed *observed, const struct idle_host *host,
			  uint64_t time);
/* Nothing is observed from now on. */
void idle_observed__stop(struct idle_observed *observed);
/* Finds out what was observed until then, of what has come. Afterwards the records before are
 * gone. */
void idle_observed__close(struct idle_observed *observed, uint64_t until);
/* The intervals that the last close() found of a GPU, in order. */
const struct interval *idle_observed__of(const struct idle_observed *observed, uint32_t gpu,
					 uint32_t *count);
/* Records that are kept. */
size_t idle_observed__size(const struct idle_observed *observed);

#endif
