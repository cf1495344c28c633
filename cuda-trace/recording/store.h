/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording being made: takes what a session delivers, keeps it safe on disk from the first
 * second on, and becomes one SQLite file at the end. One thread.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_H
#define CUDA_TRACE_RECORDING_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/recording/callstacks.h"
#include "cuda-trace/capture/session.h"

struct store;

struct store_options {
	const char *path;    /* of the recording; the spool is PATH.part until it is finished */
	const char *command; /* what was run, NULL = nothing */
	const char *at;	     /* when it is to begin, NULL = at once */
	const char *windows; /* which options chose windows, NULL = it is recorded all the time */
	uint64_t max_bytes;  /* 0 = no limit */
	uint64_t keep;	     /* ns: only the last so many are kept; 0 = all */
	bool stacks;	     /* store__stack() will be called */
	bool collectives;    /* calls of NCCL are recorded */
	bool sampled;	     /* GPU times come of windows only */
	bool compress;
	bool progress;
	bool temporary; /* the caller deletes it, whatever happens */
};

/* Errors are printed. */
int store__create(struct store **store, const struct store_options *options);
void store__process_start(struct store *store, struct process *process);
void store__record(struct store *store, struct process *process, const struct cuda_record *record);
/* A call of NCCL. */
void store__collective(struct store *store, struct process *process,
		       const struct event_collective *call);
/* What a session's sink gets as stack; and that one in `period` launches has one from now on. */
void store__stack(struct store *store, struct process *process, const struct event *event);
void store__stack_period(struct store *store, uint32_t period);
void store__process_end(struct store *store, struct process *process);
/* Call it a few times a second: 0, -EFBIG at max_bytes, or why the file cannot grow. */
int store__tick(struct store *store, const struct session_lost_counts *lost);
/* Anything that is of no process: when it begins, what threads did, texts of that. */
void store__put(void *store, enum spool_kind kind, const void *data, size_t size, const void *more,
		size_t more_size);
/* Names the functions of stacks; of store__finish() a part. Zeros where there are none. */
void store__stack_counts(const struct store *store, struct callstacks_counts *counts);
uint64_t store__records(const struct store *store);
/* From now on the last so many ns are kept instead of options.keep. */
void store__keep(struct store *store, uint64_t ns);
/* Starts a copy of what is there now under another name; of --last, for a signal. */
int store__snapshot(struct store *store, const char *path);
/* Makes the SQLite file. Prints where the spool stays if that fails. */
int store__finish(struct store *store, const struct session_lost_counts *lost);
/* Without finishing; the spool stays. */
void store__close(struct store *store);
/* The same where nothing was recorded: the spool goes, too. */
void store__discard(struct store *store);

#endif
