// SPDX-License-Identifier: BSD-2-Clause
/*
 * The id that eBPF helpers know is the file handle of the group's folder. What can go wrong with a
 * process's path: the process has ended before it is read; its pid is another process's by then,
 * whose path would be taken for its own; the group itself is gone. The id reveals the first two.
 */
#include "cuda-trace/proc/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNFS_HANDLE 0xfe /* FILEID_KERNFS */

struct id_handle {
	struct file_handle handle;
	uint64_t id;
};

/* Systems with version 1 beside it mount version 2 at /sys/fs/cgroup/unified. */
static int find_mount(char mount[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	int err = -ENOENT;

	while (mounts && err && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, "cgroup2"))
			continue;
		snprintf(mount, PATH_MAX, "%s", entry->mnt_dir);
		err = 0;
	}
	if (mounts)
		endmntent(mounts);
	return err;
}

static int read_id(const char *path, unsigned long long *id)
{
	struct id_handle at = {.handle.handle_bytes = sizeof(at.id)};
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, path, &at.handle, &mount_id, 0))
		return -errno;
	memcpy(id, at.handle.f_handle, sizeof(*id));
	return 0;
}

int cgroup__find(const char *path, unsigned long long *id, unsigned int *level)
{
	char mount[PATH_MAX], joined[2 * PATH_MAX], whole[PATH_MAX];
	size_t length;
	int err = find_mount(mount);

	if (err) {
		fprintf(stderr, "cuda-trace: --cgroup: no cgroup version 2 is mounted\n");
		return err;
	}
	length = strlen(mount);
	if (path[0] == '/' && realpath(path, whole) && !strncmp(whole, mount, length))
		snprintf(joined, sizeof(joined), "%s", path);
	else
		snprintf(joined, sizeof(joined), "%s/%s", mount, path);
	if (!realpath(joined, whole))
		err = -errno;
	else if (strncmp(whole, mount, length) || (whole[length] && whole[length] != '/'))
		err = -EINVAL;
	else
		err = read_id(whole, id);
	if (err) {
		fprintf(stderr, "cuda-trace: --cgroup %s: %s (groups are below %s)\n", path,
			strerror(-err), mount);
		return err;
	}
	*level = 0;
	for (const char *at = whole + length; *at; at++)
		*level += *at == '/';
	return 0;
}

static void read_path(uint32_t pid, char *path, size_t size)
{
	char name[64], line[PATH_MAX];
	FILE *groups;

	path[0] = 0;
	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	groups = fopen(name, "re");
	while (groups && fgets(line, sizeof(line), groups)) {
		if (strncmp(line, "0::", 3))
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(path, size, "%s", line + 3);
	}
	if (groups)
		fclose(groups);
}

/* Needs CAP_DAC_READ_SEARCH. 0 or -errno. */
static int path_by_id(const char *mount, uint64_t id, char *path, size_t size)
{
	struct id_handle at = {
		.handle.handle_bytes = sizeof(id), .handle.handle_type = KERNFS_HANDLE, .id = id};
	int folder = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), group;
	char link[64], whole[PATH_MAX] = "";
	size_t length = strlen(mount);

	if (folder < 0)
		return -errno;
	group = open_by_handle_at(folder, &at.handle, O_PATH | O_CLOEXEC);
	close(folder);
	if (group < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", group);
	if (readlink(link, whole, sizeof(whole) - 1) < 0 || strncmp(whole, mount, length))
		whole[0] = 0;
	close(group);
	if (!whole[0])
		return -ENOENT;
	snprintf(path, size, "%s", whole[length] ? whole + length : "/");
	return 0;
}

/* The path as the mount has it, which may reach further up than /proc does. */
static void find_whole(uint64_t id, char *path, size_t size)
{
	static char mount[PATH_MAX]; /* which stays where it is */
	char joined[2 * PATH_MAX];
	unsigned long long found = 0;
	bool other;

	if (!id || (!*mount && find_mount(mount)))
		return;
	snprintf(joined, sizeof(joined), "%s%s", mount, path);
	other = *path && !read_id(joined, &found);
	if (other && found == id)
		return;
	/* Nothing rather than what may be another's. */
	if (path_by_id(mount, id, path, size) && other)
		path[0] = 0;
}

/* From within a control group namespace others' groups are "/../../theirs": nobody in it can know
 * how it goes on above the namespace's own group. */
static void drop_parents(char *path)
{
	char *rest = path;

	while (!strncmp(rest, "/..", 3) && (rest[3] == '/' || !rest[3]))
		rest += 3;
	if (rest == path)
		return;
	if (*rest)
		memmove(path, rest, strlen(rest) + 1);
	else
		strcpy(path, "/");
}

void cgroup__of(uint32_t pid, uint64_t id, char *path, size_t size)
{
	read_path(pid, path, size);
	find_whole(id, path, size);
	drop_parents(path);
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

/*
 * A folder's name between a prefix and a suffix, with systemd's \x2d for a dash undone. Users make
 * control groups of any name below their own: what no engine would call a container is none.
 */
static bool parse_name(const char *folder, size_t length, const char *prefix, const char *suffix,
		       char *name, size_t size)
{
	size_t before = strlen(prefix), after = strlen(suffix), n = 0;

	if (length <= before + after || strncmp(folder, prefix, before) ||
	    strncmp(folder + length - after, suffix, after))
		return false;
	for (size_t i = before; i < length - after && n + 1 < size; i++) {
		bool dash = length - after - i >= 4 && !strncmp(folder + i, "\\x2d", 4);

		if (!dash && !is_plain(folder[i])) {
			name[0] = 0;
			return false;
		}
		name[n++] = dash ? '-' : folder[i];
		i += dash ? 3 : 0;
	}
	name[n] = 0;
	return true;
}

/* Engines whose containers have names instead of numbers: systemd-nspawn and LXC. */
static void find_name(const char *path, char *name, size_t size)
{
	static const char *const forms[][2] = {
		{"machine-", ".scope"},
		{"systemd-nspawn@", ".service"},
		{"lxc.payload.", ""},
	};

	for (const char *folder = path; *folder;) {
		size_t length = strcspn(folder, "/");

		for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
			if (parse_name(folder, length, forms[i][0], forms[i][1], name, size))
				return;
		folder += length;
		folder += strspn(folder, "/");
	}
}

/* Runtimes name the folder docker-ID.scope, cri-containerd-ID.scope, libpod-ID.scope or just ID. */
void cgroup__container(const char *path, char *name, size_t size)
{
	size_t digits = 0;

	name[0] = 0;
	for (const char *at = path; *at; at++) {
		digits = isxdigit((unsigned char)*at) ? digits + 1 : 0;
		if (digits == 64 && !isxdigit((unsigned char)at[1]))
			snprintf(name, size, "%.12s", at - 63);
	}
	if (!name[0])
		find_name(path, name, size);
}
