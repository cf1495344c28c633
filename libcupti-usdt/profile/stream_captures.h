/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs that are captured from streams: what CUPTI does inside a launch callback must not break
 * them. On launching threads, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_STREAM_CAPTURES_H
#define LIBCUPTI_USDT_PROFILE_STREAM_CAPTURES_H

#include <stdbool.h>

/* In InitializeInjection. */
void captures__open(void);
/* A launch into that stream becomes a node of a graph and does not run, or nobody knows. */
bool captures__takes(void *stream);
/* Until restored, this thread may do what captures of other threads would not survive. */
int captures__relax(void);
void captures__restore(int mode);

/* Some that are told of, as their calls return. */
void captures__begins(void);
void captures__ends(void);
void captures__forget(void);
/* Is one of them under way? */
bool captures__any(void);
/* Those to come are to wait; before they begin, they do, for a limited time. */
void captures__pause(bool on);
void captures__await(void);

#endif
