/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths below a root that is not ours: a process's, a container's, an image's. Nothing else calls
 * openat2() (tests/tree/untrusted_files.bats).
 */
#ifndef CUDA_TRACE_BASE_ROOTED_PATH_H
#define CUDA_TRACE_BASE_ROOTED_PATH_H

/* Links, absolute ones and ".." too, stay inside of the root. A descriptor, or -errno: -ENOSYS or
 * -EPERM = this kernel or a filter has no openat2(). */
int rooted_path__open(int root, const char *path, int flags);
/* Without openat2(): follows no link. -ENOSYS = there is one, or a "..". */
int rooted_path__walk(int root, const char *path, int flags);

#endif
