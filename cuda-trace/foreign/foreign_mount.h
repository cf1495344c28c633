/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File systems that a user may serve (FUSE). Whoever reads a file there, or puts a uprobe into it,
 * waits for the server, and not even SIGKILL ends that. Any thread.
 */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_MOUNT_H
#define CUDA_TRACE_FOREIGN_FOREIGN_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FOREIGN_MOUNT_REASON "its file system may be one that a user serves (FUSE)"

/*
 * What a descriptor of O_PATH leads to, as process `pid` sees it (0 = as we do), without a word to
 * the file system: true if a user serves that, or nobody can know. *inode: the file's, if known.
 * One that root has mounted where the tool itself sees it is not a user's.
 */
bool foreign_mount__is_users(int path_fd, uint32_t pid, ino_t *inode);

#endif
