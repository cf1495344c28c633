/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the tool's process numbers count: in a container with numbers of its own, eBPF must say the
 * same ones as the /proc that the tool reads.
 */
#ifndef CUDA_TRACE_PROC_PID_NAMESPACE_H
#define CUDA_TRACE_PROC_PID_NAMESPACE_H

#include <stdint.h>

/* Its inode; 0 = the machine's own, where numbers are what the kernel says. */
uint32_t pid_namespace__own(void);

#endif
