/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs that are captured from streams: what CUPTI does inside a launch callback must not break
 * them. On launching threads, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_STREAM_CAPTURES_H
#define LIBCUPTI_USDT_PROFILE_STREAM_CAPTURES_H

#include <stdbool.h>

/* In InitializeInjection. */
void stream_captures__open(void);
/* A launch into that stream becomes a node of a graph and does not run, or nobody knows. */
bool stream_captures__takes(void *stream);
/* Until restored, this thread may do what captures of other threads would not survive. */
int stream_captures__relax(void);
void stream_captures__restore(int mode);

/* The calls that begin captures and that end them, as they return. */
void stream_captures__begins(void);
void stream_captures__ends(void);
void stream_captures__forget(void);
/* Is one of them under way? */
bool stream_captures__any(void);
/* Those to come are to wait; before they begin, they do, for a limited time. */
void stream_captures__pause(bool on);
void stream_captures__wait(void);

#endif
