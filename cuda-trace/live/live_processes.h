/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many CUDA processes there are, and by what each can be seen. Looking through all processes'
 * maps is expensive, so it is done rarely. Used by live.c.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_PROCESSES_H
#define CUDA_TRACE_LIVE_LIVE_PROCESSES_H

struct session;
struct session_options;
struct sources;

/* Whom the session would listen to, by its pid, comm and uid, is counted; by a control group, only
 * those that are seen. */
struct sources *live_processes__new(const struct session_options *options);
/* counts[] by enum live_source. *refused: processes of which nobody may see whether they use CUDA,
 * as their maps are another user's and CAP_SYS_PTRACE is missing. */
void live_processes__count(struct sources *sources, struct session *session, unsigned int *counts,
			   unsigned int *refused);
void live_processes__free(struct sources *sources);

#endif
