/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control groups (version 2): path → id for the filter, pid → path for what is shown.
 */
#ifndef CUDA_TRACE_PROC_CGROUP_H
#define CUDA_TRACE_PROC_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* id and depth of the group at `path`: absolute, or below the mount. 0, or -errno, said. */
int cgroup__find(const char *path, unsigned long long *id, unsigned int *level);
/* The group's path below the mount, of a process ("" = unknown); untrusted text. id: of the group,
 * as the process was seen in it; the number may be another process's by now. 0 = not known. */
void cgroup__of(uint32_t pid, uint64_t id, char *path, size_t size);
/* Short name of the container that a group's path names (12 digits of its id), or "". */
void cgroup__container(const char *path, char *name, size_t size);

#endif
