/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths that a process has chosen: a folder on the way may be one whose server never answers. What
 * the kernel has not cached is looked up by a child, since not even SIGKILL ends who waits for such
 * a server. Any thread may call it.
 */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_LOOKUP_H
#define CUDA_TRACE_FOREIGN_FOREIGN_LOOKUP_H

#include <stdint.h>

/*
 * Opens a path below the root of a process (0 = ours), with O_PATH and perhaps O_NOFOLLOW. A
 * descriptor, or -errno: -ETIMEDOUT = there was no answer for 300 ms, -EBUSY = some others of the
 * same user have not been answered yet, -ENOSYS = no openat2(), and the path goes through a link.
 */
int foreign_lookup__open(uint32_t pid, const char *path, int flags);

#endif
