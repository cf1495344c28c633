/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that have installed a seccomp filter since the agent was loaded. The agent must stay
 * dormant in them: CUPTI would create a thread, for which the filter may kill the process.
 */
#ifndef CUDA_TRACE_ATTACH_SANDBOXED_H
#define CUDA_TRACE_ATTACH_SANDBOXED_H

#include <stdint.h>

/* Calls `found` for each such process that maps this file of the agent: for `pid` alone, or (0) for
 * all of them. A file without the probe `sandboxed` has none. */
void sandboxed__each(const char *path, uint32_t pid, void (*found)(void *context, uint32_t pid),
		     void *context);

#endif
