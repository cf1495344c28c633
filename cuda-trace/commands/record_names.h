/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that record makes.
 */
#ifndef CUDA_TRACE_COMMANDS_RECORD_NAMES_H
#define CUDA_TRACE_COMMANDS_RECORD_NAMES_H

#include <stdbool.h>
#include "cuda-trace/cli/options.h"

/* Before PROGRAM is started: 0, or the exit status after a message. */
int record_names__check(const struct option_usage *usage, const char *path, bool force);
/* A name for a snapshot, of which two may be made within a second; to be freed. */
char *record_names__snapshot(const char *path, const char *when);

#endif
