/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tool's pid namespace: in a container with its own pids, eBPF must report the same ones as the
 * /proc that the tool reads.
 */
#ifndef CUDA_TRACE_PROC_PID_NAMESPACE_H
#define CUDA_TRACE_PROC_PID_NAMESPACE_H

#include <stdint.h>

/* Its inode; 0 = the initial one, whose pids the kernel reports. */
uint32_t pid_namespace__own(void);

#endif
