/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session lost: see session.h. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_SESSION_LOSSES_H
#define CUDA_TRACE_CAPTURE_SESSION_LOSSES_H

struct session;

/* At the end: notes what PROGRAM leaves behind, and processes that have no agent yet. */
void session_losses__note_missed(struct session *session);

#endif
