/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control groups (version 2): the id of a path, for the filter; the path of a process, to show it.
 */
#ifndef CUDA_TRACE_PROC_CGROUP_H
#define CUDA_TRACE_PROC_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* id and depth of the group at `path`: absolute, or below the mount. 0, or -errno after a message.
 */
int cgroup__find(const char *path, unsigned long long *id, unsigned int *level);
/* The path of a process's group below the mount ("" = unknown); untrusted text. id: the group's, as
 * it was when the process was seen (its pid may be another process's by now). 0 = not known. */
void cgroup__of(uint32_t pid, uint64_t id, char *path, size_t size);
/* Short name of the container that a group's path names (12 digits of its id), or "". */
void cgroup__container(const char *path, char *name, size_t size);

#endif
