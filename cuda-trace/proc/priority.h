/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduling priority of the thread that programs wait for. Any thread, for itself.
 */
#ifndef CUDA_TRACE_PROC_PRIORITY_H
#define CUDA_TRACE_PROC_PRIORITY_H

/* Puts the calling thread, and what it starts from now on, before programs of the usual priority.
 * Does nothing where that is not allowed (CAP_SYS_NICE), or where the user has chosen a priority
 * (nice(1)). */
void priority__raise(void);
/* Takes that back: in a child process that is not a part of the tool, or whose work nobody waits
 * for. */
void priority__restore(void);

#endif
