/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of a session: by which source each process is observed, and since when. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_SESSION_PROCESSES_H
#define CUDA_TRACE_CAPTURE_SESSION_PROCESSES_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct process;
struct session;
struct targets;

/* Finds files of the agent and processes, for this session. */
struct targets *session_processes__targets(struct session *session);
/* context is the session. Handles an agent that subscribes while launches go on, or that does not
 * work, mostly because libcupti is missing. */
void session_processes__look_at_status(void *context, struct process *process);
/* An event of the ring `starts`; 0. */
int session_processes__handle_start(void *context, void *data, size_t size);
/* PROGRAM maps no agent yet: the link stays with it across its exec. */
void session_processes__listen_to_first(struct session *session, const char *agent);
/* May this session load the agent into processes? */
bool session_processes__attaches(const struct session *session);
void session_processes__prepare_injections(struct session *session, const char *agent);
/* From now on, processes that load libcuda wait for the session; false: none does any more. Not
 * before it knows those that run, and has closed its links: the kernel does not close one while a
 * thread waits. */
void session_processes__let_wait(struct session *session, bool wait);
/* Looks again at processes that mapped libcuda and did not stop in the loader in time: they loaded
 * it before processes were let wait, or have ended. */
void session_processes__look_again(struct session *session); /* No process waits any more. */
void session_processes__finish(struct session *session);

#endif
