/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the Linux kernel reports of threads, with the function of each stack: found while its
 * process lives, as later nobody knows what was mapped there.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_THREADS_H
#define CUDA_TRACE_IDLE_IDLE_THREADS_H

#include "cuda-trace/idle/idle_evidence.h"
#include "cuda-trace/idle/idle_functions.h"

struct idle_threads;

/* wait or sample is NULL. function: as idle_functions.h numbers them; 0 = not known. */
typedef void (*idle_threads_sink)(void *context, const struct idle_wait *wait,
				  const struct idle_sample *sample, uint32_t function);

/* NULL: no memory. The functions are the caller's, and outlive it. */
struct idle_threads *idle_threads__new(const struct session *session,
				       struct idle_functions *functions, idle_threads_sink sink,
				       void *context);
/* Of NULL: NULL. */
struct idle_evidence *idle_threads__evidence(const struct idle_threads *threads);
/* A process has ended: its number may be another's soon. Accepts NULL, as the next one. */
void idle_threads__forget(struct idle_threads *threads, uint32_t pid);
void idle_threads__free(struct idle_threads *threads);

#endif
