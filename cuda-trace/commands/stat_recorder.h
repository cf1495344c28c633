/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat --by: a temporary recording of kernels and what they are launched by, which exists only
 * while stat runs, and the table that `report --by` makes of it. One thread.
 */
#ifndef CUDA_TRACE_COMMANDS_STAT_RECORDER_H
#define CUDA_TRACE_COMMANDS_STAT_RECORDER_H

#include "cuda-trace/base/pattern.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/capture/watch.h"
#include "cuda-trace/stat/stat_by.h"
#include "cuda-trace/stat/stat_table.h"

struct stat_recorder_options {
	const char *by;		/* one of the words; NULL = that of -g, if there is one */
	const char *stacks;	/* -g; NULL = not given */
	const char *call_graph; /* NULL = the default */
	const char *max_size;	/* NULL = the default */
};

struct stat_recorder;

/* Checks the options, and sets what they need in `watch` and `shared`, the options of it. *recorder
 * stays NULL where none is wanted. 0, or the exit status after a message. */
int stat_recorder__choose(struct stat_recorder **recorder, const struct option_usage *usage,
			  const struct stat_recorder_options *options, struct options *shared,
			  struct watch *watch);
/* The functions below accept NULL. 0, or -errno after a message. */
int stat_recorder__open(struct stat_recorder *recorder);
void stat_recorder__attached(struct stat_recorder *recorder, struct session *session);
void stat_recorder__start(struct stat_recorder *recorder, struct process *process);
void stat_recorder__record(struct stat_recorder *recorder, struct process *process,
			   const struct cuda_record *record);
void stat_recorder__stack(struct stat_recorder *recorder, struct process *process,
			  const struct event *event);
void stat_recorder__end(struct stat_recorder *recorder, struct process *process);
void stat_recorder__tick(struct stat_recorder *recorder, struct session *session);
/* Makes the table, valid until __free(); adds lost stacks to `lost`. NULL = there is no recorder.
 */
const struct stat_by *stat_recorder__finish(struct stat_recorder *recorder, struct session *session,
					    const struct stat_table *table,
					    struct session_lost_counts *lost);
/* Was there an error that was printed? */
bool stat_recorder__has_failed(const struct stat_recorder *recorder);
/* Deletes the recording as well. */
void stat_recorder__free(struct stat_recorder *recorder);

#endif
