/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process may make wait for ever (a file system that it serves, memory whose pages it
 * supplies) is done by a child, since not even SIGKILL ends some of these waits. A child that gets
 * no answer ends when its server does. Until then it counts for the user of the process, so that
 * nobody can make many of them, or keep others from being served. Any thread.
 */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_CHILD_H
#define CUDA_TRACE_FOREIGN_FOREIGN_CHILD_H

#include <stdbool.h>
#include <stdint.h>

struct foreign_work {
	/* In the child, of a process with several threads: system calls only. 0 or above, or
	 * -errno. */
	int (*run)(void *context);
	void *context;
	int uses;     /* the one descriptor that it keeps; any that is open */
	bool is_file; /* what it returns is a descriptor, which is passed on */
};

/* pid: whose work it is; 0 = ours. What run() returned, or -errno: -ETIMEDOUT = not for 300 ms,
 * -EBUSY = some others of the same user have not been answered yet. */
int foreign_child__run(uint32_t pid, const struct foreign_work *work);

#endif
