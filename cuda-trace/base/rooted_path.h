/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens paths below the root of a process, a container or an image. Only this file calls openat2()
 * (tests/tree/untrusted_files.bats).
 */
#ifndef CUDA_TRACE_BASE_ROOTED_PATH_H
#define CUDA_TRACE_BASE_ROOTED_PATH_H

/* Links, also absolute ones and "..", stay inside the root. A descriptor, or -errno: -ENOSYS or
 * -EPERM = the kernel lacks openat2(), or a filter forbids it. */
int rooted_path__open(int root, const char *path, int flags);
/* The same from what the kernel has cached, without waiting for a file system. -EAGAIN = it would
 * have to, or it cannot tell. */
int rooted_path__open_cached(int root, const char *path, int flags);
/* Without openat2(): follows no link. -ENOSYS = the path has one, or a "..". */
int rooted_path__walk(int root, const char *path, int flags);

#endif
