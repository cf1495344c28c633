// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks the path one name at a time, from one open folder to the next, so that nothing can be
 * exchanged between the check of a folder and its use.
 */
#include "cuda-trace/base/trusted_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as the kernel has it */

struct walk {
	int folder;
	uid_t root; /* the owner of "/": in a user namespace root may have another number */
	unsigned int links;
	char rest[2 * PATH_MAX]; /* what is still to be walked */
};

static bool is_trusted(const struct walk *walk, const struct stat *st)
{
	return st->st_uid == geteuid() || !st->st_uid || st->st_uid == walk->root;
}

static int go_to(struct walk *walk, int folder)
{
	close(walk->folder);
	walk->folder = folder;
	return 0;
}

static int go_to_root(struct walk *walk)
{
	int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder < 0 ? -errno : go_to(walk, folder);
}

/* Puts what the link says in front of the rest. */
static int follow(struct walk *walk, int link)
{
	char target[PATH_MAX], joined[sizeof(walk->rest)];
	ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);

	if (length < 0)
		return -errno;
	if (++walk->links > MAX_LINKS)
		return -ELOOP;
	target[length] = '\0';
	if (snprintf(joined, sizeof(joined), "%s/%s", target, walk->rest) >= (int)sizeof(joined))
		return -ENAMETOOLONG;
	memcpy(walk->rest, joined, sizeof(joined));
	return *target == '/' ? go_to_root(walk) : 0;
}

static int open_name(struct walk *walk, const char *name, bool make)
{
	int fd = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && make) {
		if (mkdirat(walk->folder, name, 0755) && errno != EEXIST)
			return -errno;
		fd = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static int step(struct walk *walk, const char *name, bool make)
{
	int fd = open_name(walk, name, make), err = 0;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		err = -errno;
	else if (!is_trusted(walk, &st))
		err = TRUSTED_FOLDER_FOREIGN;
	else if (S_ISLNK(st.st_mode))
		err = follow(walk, fd);
	else if (S_ISDIR(st.st_mode))
		return go_to(walk, fd);
	else
		err = -ENOTDIR;
	close(fd);
	return err;
}

/* Takes the next name off the rest; false: there is none. */
static bool next_name(struct walk *walk, char name[NAME_MAX + 1], int *err)
{
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");

	if (!length)
		return false;
	if (length > NAME_MAX) {
		*err = -ENAMETOOLONG;
		return false;
	}
	memcpy(name, start, length);
	name[length] = '\0';
	memmove(walk->rest, start + length, strlen(start + length) + 1);
	return true;
}

int trusted_folder__open(const char *path, bool make)
{
	struct walk walk = {.folder = -1};
	char name[NAME_MAX + 1];
	struct stat st;
	int err;

	if (snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	walk.folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (walk.folder < 0)
		return -errno;
	err = fstat(walk.folder, &st) ? -errno : 0;
	walk.root = st.st_uid;
	while (!err && next_name(&walk, name, &err))
		err = step(&walk, name, make);
	if (!err)
		return walk.folder;
	close(walk.folder);
	return err;
}
