// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/foreign/foreign_mount.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MOUNTS_BYTES (4 << 20) /* of one process: more are not looked at */

enum kind { MISSING, OTHER, FUSE_OF_ROOT, FUSE };

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS... - TYPE SOURCE OPTIONS", as in proc(5). Who mounts
 * chooses the source and a part of the type; blanks in them are escaped. */
static enum kind kind_of(const char *line)
{
	const char *type = strstr(line, " - "), *options = strrchr(line, ' ');

	if (!type)
		return MISSING;
	type += 3;
	if (strncmp(type, "fuse", 4) != 0)
		return OTHER;
	return strstr(options, ",user_id=0,") ? FUSE_OF_ROOT : FUSE;
}

static enum kind find_mount(const char *mounts, uint64_t id)
{
	FILE *file = fopen(mounts, "re");
	enum kind kind = MISSING;
	char *line = NULL;
	size_t size = 0, bytes = 0;
	ssize_t length;

	while (file && !kind && bytes < MOUNTS_BYTES &&
	       (length = getline(&line, &size, file)) > 0) {
		bytes += length;
		if (strtoull(line, NULL, 10) == id)
			kind = kind_of(line);
	}
	free(line);
	if (file)
		fclose(file);
	return kind;
}

/* Where a user is root of a namespace, user_id=0 is that user. A process that has changed its root
 * does not list what is outside: the first one may. */
static bool is_users(uint32_t pid, uint64_t id)
{
	enum kind kind = MISSING;
	char path[32];

	if (pid) {
		snprintf(path, sizeof(path), "/proc/%u/mountinfo", pid);
		kind = find_mount(path, id);
	}
	if (kind == OTHER)
		return false;
	kind = find_mount("/proc/self/mountinfo", id);
	if (kind == MISSING)
		kind = find_mount("/proc/1/mountinfo", id);
	return kind != OTHER && kind != FUSE_OF_ROOT;
}

static dev_t memory_device; /* 0 = not known */

static void find_memory_device(void)
{
	int fd = memfd_create("", MFD_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		memory_device = st.st_dev;
	if (fd >= 0)
		close(fd);
}

/* Of memfd_create(), whose files are on a mount that nobody lists. */
static bool is_memory(const struct statx *seen)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_memory_device);
	return makedev(seen->stx_dev_major, seen->stx_dev_minor) == memory_device;
}

bool foreign_mount__is_users(int path_fd, uint32_t pid, ino_t *inode)
{
	struct statx seen;

	/* Only what the kernel knows. FUSE refuses even that to anybody but its user. */
	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &seen))
		return true;
	*inode = seen.stx_ino;
	return !seen.stx_dev_major && seen.stx_mask & STATX_MNT_ID && !is_memory(&seen) &&
	       is_users(pid, seen.stx_mnt_id);
}
