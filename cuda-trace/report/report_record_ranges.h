/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which push/pop ranges of NVTX were open on a thread as it launched: the agent says so with each
 * launch, a recording only by times. Inside of report_replay*.c.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_RECORD_RANGES_H
#define CUDA_TRACE_REPORT_REPORT_RECORD_RANGES_H

#include "cuda-trace/report/report_index.h"
#include "libcupti-usdt/probes.h"

struct replay;
struct replay_thread;

/* All zero is an empty one. */
struct replay_ranges {
	struct key_index index; /* of threads, by globalTid */
	struct replay_thread *threads;
	size_t count, capacity;
};

/* A range begins. Begins, and the two below, come in order of time. */
void report_record_ranges__begin(struct replay *replay, size_t process, int64_t thread,
				 struct cuda_nvtx *range);
/* Plays the thread's ranges that have ended by then; how many are open. */
uint32_t report_record_ranges__depth(struct replay *replay, int64_t thread, uint64_t time);
/* Plays all that is left. */
void report_record_ranges__end(struct replay *replay);
void report_record_ranges__free(struct replay_ranges *ranges);

#endif
