/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording of what has come so far, while more comes. Made by a process of its own: reading a
 * minute of events takes seconds, and the ring buffer does not wait.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_SNAPSHOT_H
#define CUDA_TRACE_RECORDING_STORE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of the last `keep` ns of the spool. *running: the process that writes it, until it is reaped; 0 =
 * there is none, as must be here. 0 or -errno. */
int snapshot__start(pid_t *running, const char *spool, const char *path, uint64_t keep);
/* Sets *running to 0 when it has ended; wait: waits for that. */
void snapshot__reap(pid_t *running, bool wait);

#endif
