/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that have forbidden themselves system calls (seccomp) since the agent was loaded. They
 * must not be woken: CUPTI would make a thread there, and the process be killed for it.
 */
#ifndef CUDA_TRACE_ATTACH_SANDBOXED_H
#define CUDA_TRACE_ATTACH_SANDBOXED_H

#include <stdint.h>

/* Calls `found` for each such process that maps this file of the agent: for `pid` alone, or (0) for
 * all of them. A file without the probe `sandboxed` has none. */
void sandboxed__each(const char *path, uint32_t pid, void (*found)(void *context, uint32_t pid),
		     void *context);

#endif
