/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks whether a process's seccomp filters allow the system calls that loading the agent and the
 * agent make, or let those fail that may fail. The usual filters of containers do. One thread, the
 * tracer's.
 */
#ifndef CUDA_TRACE_INJECT_SECCOMP_FILTER_H
#define CUDA_TRACE_INJECT_SECCOMP_FILTER_H

#include <stddef.h>
#include <sys/types.h>

/* thread: stopped by the caller. 0; -EACCES with the name of a call that a filter would refuse; or
 * another -errno: the filters cannot be read (that needs CAP_SYS_ADMIN). */
int seccomp_filter__check(pid_t thread, const char **call);

#endif
