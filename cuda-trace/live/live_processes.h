/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts CUDA processes by their source. Scanning the maps of all processes is expensive, so it is
 * done rarely. Used by live.c.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_PROCESSES_H
#define CUDA_TRACE_LIVE_LIVE_PROCESSES_H

struct session;
struct session_options;
struct sources;

/* Counts processes that the session selects by pid, comm and uid; with a control group, only those
 * that are traced. */
struct sources *live_processes__new(const struct session_options *options);
/* counts[] by enum live_source. *refused: processes whose maps cannot be read, as they are another
 * user's and CAP_SYS_PTRACE is missing. */
void live_processes__count(struct sources *sources, struct session *session, unsigned int *counts,
			   unsigned int *refused);
void live_processes__free(struct sources *sources);

#endif
