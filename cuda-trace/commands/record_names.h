/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that record makes.
 */
#ifndef CUDA_TRACE_COMMANDS_RECORD_NAMES_H
#define CUDA_TRACE_COMMANDS_RECORD_NAMES_H

#include <stdbool.h>
#include "cuda-trace/cli/options.h"
#include "cuda-trace/recording/store.h"

/* Before PROGRAM is started: 0, or the exit status after a message. */
int record_names__check(const struct option_usage *usage, const char *path, bool force);
/* SIGUSR2: saves what the ring holds beside `path`, with the time in its name, and says so. */
void record_names__save_snapshot(struct store *store, const char *path, bool quiet);
/* What was written; `why`: there are no records in it. */
void record_names__say_written(const char *path, uint64_t records, const char *why);

#endif
