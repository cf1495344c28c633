/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The environment of a process, as it was when the process executed its program; untrusted. It is
 * memory of the process, but Linux reads none that lies in a file for this, so that no file system
 * can make it wait. No state, any thread.
 */
#ifndef CUDA_TRACE_PROC_PROCESS_ENVIRONMENT_H
#define CUDA_TRACE_PROC_PROCESS_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#define PROCESS_ENVIRONMENT_MAX (256 << 10)

/* The bytes, behind which there is a 0, are to be freed; *size is PROCESS_ENVIRONMENT_MAX if there
 * may be more. NULL, and *size = 0: the process has ended, or may not be read. */
char *process_environment__read(uint32_t pid, size_t *size);

#endif
