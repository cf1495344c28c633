// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/foreign/foreign_lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "cuda-trace/base/rooted_path.h"
#include "cuda-trace/foreign/foreign_child.h"

struct lookup {
	int root, flags;
	const char *path;
};

static int open_now(void *context)
{
	const struct lookup *lookup = context;
	int fd = rooted_path__open(lookup->root, lookup->path, lookup->flags);

	/* A filter of a container; the paths in /proc/PID/maps have no links. */
	return fd == -ENOSYS || fd == -EPERM
		       ? rooted_path__walk(lookup->root, lookup->path, lookup->flags)
		       : fd;
}

int foreign_lookup__open(uint32_t pid, const char *path, int flags)
{
	char name[32] = "/";
	struct lookup lookup = {.flags = flags, .path = path};
	int result;

	if (pid)
		snprintf(name, sizeof(name), "/proc/%u/root", pid);
	lookup.root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (lookup.root < 0)
		return -errno;
	result = rooted_path__open_cached(lookup.root, path, flags);
	if (result == -EAGAIN)
		result = foreign_child__run(
			pid, &(struct foreign_work){open_now, &lookup, lookup.root, true});
	close(lookup.root);
	return result;
}
