/* SPDX-License-Identifier: BSD-2-Clause */
/* A forked process takes its own rights away. */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_SANDBOX_H
#define CUDA_TRACE_FOREIGN_FOREIGN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#define SANDBOX_IN  0 /* descriptors, afterwards */
#define SANDBOX_OUT 1

/*
 * Closes all but `in` and `out`, unmaps memory that is shared with the tool, becomes nobody where
 * it may, gives all capabilities up, and lets through only what reading, writing and malloc() need.
 * False: do not go on.
 */
bool foreign_sandbox__enter(int in, int out, size_t memory, unsigned int seconds);
/* Its parts, where a process needs other descriptors. The rest: nobody, no capabilities, limits of
 * addresses and of a processor's time; filter: of system calls. */
bool foreign_sandbox__unmap_shared(void);
bool foreign_sandbox__confine(size_t memory, unsigned int seconds, bool filter);

#endif
