/* SPDX-License-Identifier: BSD-2-Clause */
/* A forked process drops its own privileges. */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_SANDBOX_H
#define CUDA_TRACE_FOREIGN_FOREIGN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#define SANDBOX_IN  0 /* descriptors, afterwards */
#define SANDBOX_OUT 1

/* The tool calls it once its ring buffers are mapped: processes that it forks later do not get
 * these. To copy and to unmap the page tables takes longer than to read a file. */
void foreign_sandbox__withhold_rings(void);
/*
 * Closes all descriptors but `in` and `out`, unmaps memory that is shared with the tool, becomes
 * user nobody if it may, drops all capabilities, and allows only the system calls that reading,
 * writing and malloc() need. False: do not continue.
 */
bool foreign_sandbox__enter(int in, int out, size_t memory, unsigned int seconds);
/* Its parts, where a process needs other descriptors. The rest: nobody, no capabilities, limits of
 * addresses and of a processor's time; filter: of system calls. */
bool foreign_sandbox__unmap_shared(void);
bool foreign_sandbox__confine(size_t memory, unsigned int seconds, bool filter);

#endif
