// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/rooted_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_TRIES 1000 /* whoever renames folders all the time must not keep us */

static int open_in_root(int root, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int rooted_path__open(int root, const char *path, int flags)
{
	int fd, tries = 0;

	/* EAGAIN: somebody renames while a ".." is resolved. */
	do
		fd = open_in_root(root, path, flags, 0);
	while ((fd == -EINTR || fd == -EAGAIN) && ++tries < MAX_TRIES);
	return fd;
}

/* EINVAL: a kernel before 5.12. */
int rooted_path__open_cached(int root, const char *path, int flags)
{
	int fd = open_in_root(root, path, flags, RESOLVE_CACHED);

	return fd == -EINTR || fd == -EINVAL || fd == -ENOSYS || fd == -EPERM ? -EAGAIN : fd;
}

/* The next name of the path; false: it is too long, or leads up. */
static int next_name(const char **path, char name[NAME_MAX + 1])
{
	size_t length;

	*path += strspn(*path, "/");
	length = strcspn(*path, "/");
	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, *path, length);
	name[length] = 0;
	*path += length;
	*path += strspn(*path, "/");
	return strcmp(name, "..") ? 0 : -ENOSYS;
}

int rooted_path__walk(int root, const char *path, int flags)
{
	int folder = fcntl(root, F_DUPFD_CLOEXEC, 3), next, err;
	char name[NAME_MAX + 1];

	for (err = folder < 0 ? -errno : 0; !err;) {
		err = next_name(&path, name);
		if (err || !*path)
			break;
		next = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		err = next >= 0 ? 0 : errno == ENOTDIR || errno == ELOOP ? -ENOSYS : -errno;
		close(folder);
		folder = next;
	}
	if (!err) {
		next = openat(folder, *name ? name : ".", flags | O_NOFOLLOW | O_CLOEXEC);
		err = next < 0 ? -errno : next;
	}
	if (folder >= 0)
		close(folder);
	return err;
}
