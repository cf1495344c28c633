// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each path is resolved with O_PATH first, which has no effect on what it leads to. If no user
 * serves its file system, fstat() is called, and only when that says that this is a regular file it
 * is opened for reading, through the descriptor, so that nothing can be exchanged in between.
 * Called on the tool's one thread.
 */
#include "cuda-trace/foreign/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/foreign/foreign_lookup.h"
#include "cuda-trace/foreign/foreign_mount.h"

static void identify(struct foreign_file *file, const struct stat *st)
{
	file->device = st->st_dev;
	file->inode = st->st_ino;
	file->size = st->st_size;
	file->changed = st->st_ctim.tv_sec * 1000000000ull + st->st_ctim.tv_nsec;
}

/* Takes the descriptor of O_PATH over. */
static int examine(struct foreign_file *file, int path_fd)
{
	struct stat st;

	file->fd = path_fd;
	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &st) || !S_ISREG(st.st_mode)) {
		foreign_file__close(file);
		return -EINVAL;
	}
	identify(file, &st);
	return 0;
}

/* The same for what a process has chosen. */
static int examine_of(struct foreign_file *file, uint32_t pid, int path_fd)
{
	if (path_fd < 0 || !foreign_mount__is_users(path_fd, pid, &file->inode))
		return examine(file, path_fd);
	close(path_fd);
	file->fd = -1;
	file->is_users = true;
	return -ENOTSUP;
}

int foreign_file__of(struct foreign_file *file, int fd)
{
	struct stat st;

	memset(file, 0, sizeof(*file));
	file->fd = fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -EINVAL;
	identify(file, &st);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", fd);
	return 0;
}

int foreign_file__open_identified(struct foreign_file *file)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", file->fd);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		int err = -errno;

		foreign_file__close(file);
		return err;
	}
	close(file->fd);
	file->fd = fd;
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", fd);
	return 0;
}

int foreign_file__open(struct foreign_file *file, uint32_t pid, const char *path, bool nofollow)
{
	int err;

	memset(file, 0, sizeof(*file));
	err = examine_of(file, pid,
			 foreign_lookup__open(pid, path, O_PATH | (nofollow ? O_NOFOLLOW : 0)));
	return err ? err : foreign_file__open_identified(file);
}

int foreign_file__open_ours(struct foreign_file *file, const char *path)
{
	int fd, err;

	memset(file, 0, sizeof(*file));
	fd = open(path, O_PATH | O_CLOEXEC);
	err = examine(file, fd < 0 ? -errno : fd);
	return err ? err : foreign_file__open_identified(file);
}

bool foreign_file__identify(struct foreign_file *file, uint32_t pid, const char *range,
			    const char *path)
{
	char name[96];
	int fd;

	memset(file, 0, sizeof(*file));
	snprintf(name, sizeof(name), "/proc/%u/map_files/%s", pid, range);
	fd = open(name, O_PATH | O_CLOEXEC);
	if (!examine_of(file, pid, fd))
		return true;
	return fd < 0 && !examine_of(file, pid, foreign_lookup__open(pid, path, O_PATH));
}

int foreign_file__open_mapped(struct foreign_file *file, uint32_t pid, const char *range,
			      const char *path)
{
	if (foreign_file__identify(file, pid, range, path))
		return foreign_file__open_identified(file);
	return file->is_users ? -ENOTSUP : -ENOENT;
}

bool foreign_file__is_same(const struct foreign_file *a, const struct foreign_file *b)
{
	return a->inode == b->inode && a->device == b->device;
}

void foreign_file__close(struct foreign_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

const char *foreign_file__show(const char *path, char *shown, size_t size)
{
	char target[PATH_MAX];
	ssize_t length = strncmp(path, "/proc/self/fd/", 14)
				 ? -1
				 : readlink(path, target, sizeof(target) - 1);

	if (length > 0) {
		target[length] = 0;
		path = target;
	}
	return text__show(shown, size, path, size > 200 ? 200 : 0);
}
