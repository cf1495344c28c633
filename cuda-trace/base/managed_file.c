// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes and removes our files in folders of others. Called by the commands enable, disable and
 * status; one thread.
 */
#include "cuda-trace/base/managed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/base/rooted_path.h"
#include "cuda-trace/base/temporary_file.h"
#include "cuda-trace/base/trusted_folder.h"

#define TEMPORARY ".cuda-trace.new"
#define MAX_TRIES 64 /* a "disable" at the same time removes the folder, once each time */

/* RESOLVE_IN_ROOT: in an image that is not ours, "/etc" may be a link to our own. */
static int open_below(int root, const char *path)
{
	return rooted_path__open(root, *path ? path : "/", O_PATH | O_DIRECTORY);
}

static int make_folder(int root, char *path)
{
	char *slash = strrchr(path, '/');
	int parent, err = 0;

	*slash = '\0';
	parent = open_below(root, path);
	if (parent == -ENOENT && *path) {
		err = make_folder(root, path);
		parent = err ? err : open_below(root, path);
	}
	*slash = '/';
	if (parent < 0)
		return parent;
	if (mkdirat(parent, slash + 1, 0755) && errno != EEXIST)
		err = -errno;
	close(parent);
	return err;
}

/* Opens the folder that the file is in; *name is the rest of the path. */
static int open_folder(const char *root, const char *path, bool make, const char **name)
{
	char folder[PATH_MAX];
	int top, fd;

	*name = strrchr(path, '/') + 1;
	if (snprintf(folder, sizeof(folder), "%.*s", (int)(*name - path - 1), path) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!root)
		return trusted_folder__open(folder, make);
	top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	fd = open_below(top, folder);
	if (fd == -ENOENT && make) {
		fd = make_folder(top, folder);
		if (!fd)
			fd = open_below(top, folder);
	}
	close(top);
	return fd;
}

static int check_in(int folder, const char *name)
{
	char start[sizeof(OWN_FILE_MARK)] = "";
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int result = -EEXIST;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EEXIST : -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    read(fd, start, sizeof(start) - 1) == sizeof(start) - 1 &&
	    !strcmp(start, OWN_FILE_MARK))
		result = 1;
	close(fd);
	return result;
}

int managed_file__check(const char *root, const char *path)
{
	const char *name;
	int folder = open_folder(root, path, false, &name);
	int result;

	if (folder < 0)
		return folder == -ENOENT || folder == -ENOTDIR ? 0 : folder;
	result = check_in(folder, name);
	close(folder);
	return result;
}

/* A new file beside it; *temporary is the caller's to free. */
static int fill(int folder, const char *text, char **temporary)
{
	int fd = temporary_file__open(folder, TEMPORARY, 0644, temporary), err = 0;

	if (fd < 0)
		return fd;
	/* Whatever the umask: profile scripts of other users test for some of these. */
	if (fchmod(fd, 0644) || dprintf(fd, OWN_FILE_MARK "%s", text) < 0 || fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int replace(const char *root, const char *path, const char *text)
{
	const char *name;
	char *temporary = NULL;
	int folder = open_folder(root, path, true, &name);
	int err;

	if (folder < 0)
		return folder;
	err = check_in(folder, name);
	if (err >= 0)
		err = fill(folder, text, &temporary);
	if (!err && renameat(folder, temporary, folder, name))
		err = -errno;
	if (err && temporary)
		unlinkat(folder, temporary, 0);
	free(temporary);
	close(folder);
	return err;
}

int managed_file__write(const char *root, const char *path, const char *text)
{
	int err = -ENOENT;

	/* The folder was there or was made, and is gone: another process has just removed it. */
	for (int i = 0; i < MAX_TRIES && err == -ENOENT; i++)
		err = replace(root, path, text);
	return err;
}

int managed_file__drop(const char *path)
{
	const char *name;
	int folder = open_folder(NULL, path, false, &name);
	int err;

	if (folder < 0)
		return folder == -ENOENT || folder == -ENOTDIR ? 0 : folder;
	err = unlinkat(folder, name, 0) && errno != ENOENT ? -errno : 0;
	close(folder);
	return err;
}

const char *managed_file__reason(int err)
{
	switch (err) {
	case -EEXIST:
		return "cuda-trace did not write this file: it is not changed";
	case TRUSTED_FOLDER_FOREIGN:
		return "a folder or a link in this path belongs to another user: nothing is "
		       "written "
		       "there";
	}
	return strerror(-err);
}

int managed_file__remove(const char *root, const char *path)
{
	const char *name;
	int folder = open_folder(root, path, false, &name);
	char parent[PATH_MAX];
	int err;

	if (folder < 0)
		return folder;
	err = check_in(folder, name);
	if (err > 0)
		err = unlinkat(folder, name, 0) ? -errno : 0;
	else if (!err)
		err = -ENOENT;
	close(folder);
	if (err)
		return err;
	/* The folder too, unless others use it: rmdir does not remove what is not empty. */
	snprintf(parent, sizeof(parent), "%.*s", (int)(name - path - 1), path);
	folder = open_folder(root, parent, false, &name);
	if (folder >= 0) {
		unlinkat(folder, name, AT_REMOVEDIR);
		close(folder);
	}
	return 0;
}
