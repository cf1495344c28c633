/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record --idle: what the threads of the recorded processes did, from the Linux kernel into the
 * recording.
 */
#ifndef CUDA_TRACE_COMMANDS_RECORD_THREADS_H
#define CUDA_TRACE_COMMANDS_RECORD_THREADS_H

#include "cuda-trace/capture/session.h"
#include "cuda-trace/idle/idle.h"
#include "cuda-trace/recording/store.h"

/* What a report needs beside it, to say why GPUs were idle. */
#define RECORD_THREADS_GROUPS                                                   \
	(IDLE_CALL_GROUPS | 1u << CUDA_GROUP_LAUNCH | 1u << CUDA_GROUP_KERNEL | \
	 1u << CUDA_GROUP_MEMCPY | 1u << CUDA_GROUP_MEMSET)

struct record_threads;

/* NULL: no memory. The others accept NULL. */
struct record_threads *record_threads__new(const struct session *session, struct store *store);
/* A process of which something has come. */
void record_threads__process(struct record_threads *threads, const struct process *process);
/* Only what is between these times is recorded from now on; ns. */
void record_threads__only(struct record_threads *threads, uint64_t from, uint64_t until);
/* Several times a second. */
void record_threads__read(struct record_threads *threads);
/* Also what has not ended, and what is missing: before the recording is finished. */
void record_threads__finish(struct record_threads *threads);
void record_threads__free(struct record_threads *threads);

#endif
