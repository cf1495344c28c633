// SPDX-License-Identifier: BSD-2-Clause
/*
 * Looks into a file tree that may be hostile. Links that point out of an image (absolute ones, ..)
 * are the danger: openat2(RESOLVE_IN_ROOT) lets the kernel keep every path inside, without
 * races. Called by all of the doctor; one thread.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <limits.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/rooted_path.h"
#include "cuda-trace/inventory/filetree.h"

#define STREAM_MAX (64l << 20) /* bytes: above any list of packages, far below a trap */

void filetree__budget(struct filetree *tree, uint64_t ns, uint64_t entries)
{
	tree->incomplete |= tree->cut;
	tree->cut = false;
	tree->deadline = ns ? monotonic__ns() + ns : 0;
	tree->entries_max = entries ? tree->entries + entries : 0;
}

bool filetree__exhausted(struct filetree *tree)
{
	if (tree->entries_max && tree->entries > tree->entries_max)
		tree->cut = true;
	else if (tree->deadline && monotonic__ns() > tree->deadline)
		tree->cut = true;
	return tree->cut;
}

static int open_below(const struct filetree *tree, const char *path, uint64_t flags)
{
	int fd;

	if (!tree->plain)
		return rooted_path__open(tree->root, path, flags);
	do
		fd = openat(tree->root, path, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static int fd_path(int fd, char *out, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, size - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	return 0;
}

int filetree__open(struct filetree *tree, const char *dir)
{
	int fd;

	memset(tree, 0, sizeof(*tree));
	tree->root = -1;
	tree->own = !dir;
	snprintf(tree->name, sizeof(tree->name), "%s", dir ? dir : "/");
	/* Not below any root yet: this path is the user's own. */
	fd = open(tree->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	tree->root = fd;
	if (fd_path(fd, tree->prefix, sizeof(tree->prefix)) || !strcmp(tree->prefix, "/"))
		tree->prefix[0] = '\0';
	fd = open_below(tree, ".", O_PATH);
	if (fd < 0 && tree->own) {
		tree->plain = true;
		fd = open_below(tree, "/", O_PATH);
	}
	if (fd < 0) {
		filetree__close(tree);
		return fd;
	}
	close(fd);
	return 0;
}

void filetree__close(struct filetree *tree)
{
	if (tree->root >= 0)
		close(tree->root);
	tree->root = -1;
}

int filetree__path(const struct filetree *tree, const char *path, bool nofollow)
{
	return open_below(tree, path, O_PATH | (nofollow ? O_NOFOLLOW : 0));
}

/* Looks at what it is before opening it: opening alone can block or act. */
static int reopen(int path_fd, int flags)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int filetree__file(const struct filetree *tree, const char *path, struct stat *st)
{
	struct stat own;
	int path_fd, fd;

	path_fd = filetree__path(tree, path, false);
	if (path_fd < 0)
		return path_fd;
	st = st ?: &own;
	if (fstat(path_fd, st))
		fd = -errno;
	else if (!S_ISREG(st->st_mode))
		fd = -EINVAL;
	else
		fd = reopen(path_fd, O_RDONLY);
	close(path_fd);
	return fd;
}

bool filetree__exists(const struct filetree *tree, const char *path)
{
	int fd = filetree__path(tree, path, false);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool filetree__is_dir(const struct filetree *tree, const char *path)
{
	int fd = open_below(tree, path, O_PATH | O_DIRECTORY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int filetree__resolve(const struct filetree *tree, const char *path, char *out, size_t size)
{
	char full[FILETREE_PATH_MAX];
	size_t n = strlen(tree->prefix);
	int fd, err;

	fd = filetree__path(tree, path, false);
	if (fd < 0)
		return fd;
	err = fd_path(fd, full, sizeof(full));
	close(fd);
	if (err)
		return err;
	if (n && !strncmp(full, tree->prefix, n) && (full[n] == '/' || !full[n]))
		snprintf(out, size, "%s", full[n] ? full + n : "/");
	else
		snprintf(out, size, "%s", full);
	return 0;
}

ssize_t filetree__read(const struct filetree *tree, const char *path, char *buffer, size_t size)
{
	size_t have = 0;
	ssize_t n = 0;
	int fd;

	buffer[0] = '\0';
	fd = filetree__file(tree, path, NULL);
	if (fd < 0)
		return fd;
	while (have < size - 1) {
		n = read(fd, buffer + have, size - 1 - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += n;
	}
	n = n < 0 ? -errno : (ssize_t)have;
	close(fd);
	buffer[have] = '\0';
	return n;
}

FILE *filetree__stream(const struct filetree *tree, const char *path)
{
	int fd = filetree__file(tree, path, NULL);
	FILE *file;

	if (fd < 0)
		return NULL;
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

bool filetree__line(FILE *file, char *line, size_t size)
{
	if (ftello(file) > STREAM_MAX || !fgets(line, size, file))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static DIR *open_dir(struct filetree *tree, const char *path, uint64_t nofollow)
{
	int fd = open_below(tree, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | nofollow);
	DIR *dir;

	if (fd == -EACCES || fd == -EPERM)
		tree->denied++;
	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

/* readdir() that counts; NULL at the end or when the budget is spent. */
static struct dirent *next_entry(struct filetree *tree, DIR *dir)
{
	struct dirent *entry;

	do {
		entry = readdir(dir);
		/* The clock is looked at only now and then: folders of 100,000 files exist. */
		if (entry && !(++tree->entries & 63) && filetree__exhausted(tree))
			return NULL;
	} while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	return tree->cut ? NULL : entry;
}

static int join(char *out, size_t size, const char *path, const char *name)
{
	size_t n = strlen(path);
	int length = snprintf(out, size, "%s%s%s", path, n && path[n - 1] == '/' ? "" : "/", name);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static int glob_step(struct filetree *tree, const char *base, const char *rest, tree_fn each,
		     void *context);

static int glob_list(struct filetree *tree, const char *base, const char *part, const char *rest,
		     tree_fn each, void *context)
{
	char path[FILETREE_PATH_MAX];
	struct dirent *entry;
	DIR *dir = open_dir(tree, base, 0);
	int err = 0;

	if (!dir)
		return 0;
	while (!err && (entry = next_entry(tree, dir))) {
		if (fnmatch(part, entry->d_name, FNM_PERIOD) ||
		    join(path, sizeof(path), base, entry->d_name))
			continue;
		if (*rest && entry->d_type != DT_DIR && entry->d_type != DT_LNK &&
		    entry->d_type != DT_UNKNOWN)
			continue;
		/* It was just read: asking again would cost a call for each of 100,000 files. */
		err = *rest ? glob_step(tree, path, rest, each, context) : each(context, path);
	}
	closedir(dir);
	return err;
}

static int glob_step(struct filetree *tree, const char *base, const char *rest, tree_fn each,
		     void *context)
{
	char part[NAME_MAX + 1], path[FILETREE_PATH_MAX];
	size_t n;
	int fd;

	rest += strspn(rest, "/");
	if (!*rest) {
		fd = filetree__path(tree, base, true);
		if (fd < 0)
			return 0;
		close(fd);
		return each(context, base);
	}
	n = strcspn(rest, "/");
	if (n > NAME_MAX)
		return 0;
	memcpy(part, rest, n);
	part[n] = '\0';
	if (strpbrk(part, "*?["))
		return glob_list(tree, base, part, rest + n + strspn(rest + n, "/"), each, context);
	if (join(path, sizeof(path), base, part))
		return 0;
	return glob_step(tree, path, rest + n, each, context);
}

int filetree__glob(struct filetree *tree, const char *pattern, tree_fn each, void *context)
{
	return glob_step(tree, "/", pattern, each, context);
}

/* Kernel-made trees hold no libraries, can be endless, and some act when they are read. */
static bool pseudo(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	switch ((uint32_t)fs.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case BPF_FS_MAGIC:
	case DEVPTS_SUPER_MAGIC:
	case PSTOREFS_MAGIC:
	case EFIVARFS_MAGIC:
	case BINFMTFS_MAGIC:
	case AUTOFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

static bool entry_is_dir(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) &&
	       S_ISDIR(st.st_mode);
}

int filetree__walk(struct filetree *tree, const char *path, unsigned int depth, tree_step step,
		   void *context)
{
	enum tree_step next = TREE_DESCEND;
	char below[FILETREE_PATH_MAX];
	unsigned int seen = 0;
	struct dirent *entry;
	bool is_dir;
	DIR *dir;
	int err = 0;

	dir = open_dir(tree, path, O_NOFOLLOW);
	if (!dir)
		return 0;
	if (pseudo(dirfd(dir)))
		goto out;
	while (!err && (entry = next_entry(tree, dir))) {
		if (tree->folder_max && ++seen > tree->folder_max) {
			tree->partial = true;
			break;
		}
		is_dir = entry_is_dir(dir, entry);
		if (join(below, sizeof(below), path, entry->d_name))
			continue;
		next = step(context, below, entry->d_name, is_dir);
		if (next == TREE_STOP)
			err = 1;
		else if (next == TREE_DESCEND && is_dir && depth > 1)
			err = filetree__walk(tree, below, depth - 1, step, context);
	}
out:
	closedir(dir);
	return err;
}
