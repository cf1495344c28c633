/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Application replay: PROGRAM runs several times, each time with metrics that fit into one pass,
 * and what the runs counted is put together: the n-th launch of a kernel with a shape in one run is
 * that in the next. One thread.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_APPLICATION_REPLAY_H
#define CUDA_TRACE_PROFILE_COUNTERS_APPLICATION_REPLAY_H

#include <stdio.h>
#include "cuda-trace/profile/counters/counter_table.h"

#define REPLAY_RUNS 64 /* at most */

struct replay;

struct replay *application_replay__new(void);
void application_replay__free(struct replay *replay);
/* One kernel of the run that is going on; `alone` as of counter_table__read(). */
void application_replay__kernel(struct replay *replay, const struct process *process,
				const struct cuda_counters *record,
				const struct counter_kernel *alone);
/* That run is over, and the next one begins. Not whole: it is as if it had not been. */
void application_replay__run_ended(struct replay *replay, bool whole);
/* Hands out each launch that all runs had, as the first one numbered them. */
void application_replay__each(struct replay *replay,
			      void (*take)(void *context, const struct process *process,
					   const struct cuda_counters *record,
					   struct counter_kernel *kernel),
			      void *context);
/* What the runs did not have in common: nothing, lines of text, or one of JSON with what was
 * planned. */
void application_replay__say(FILE *file, const struct replay *replay);
void application_replay__json(FILE *file, const struct replay *replay, uint32_t planned);

#endif
