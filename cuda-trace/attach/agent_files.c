// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds copies of the guest through /proc. A file is known by device and inode as stat() tells
 * them, never by its path: the same path means another file in each container.
 */
#include "cuda-trace/attach/agent_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "libcupti-usdt/probes.h"

#define MOST_FILES     512 /* what the eBPF side has room for, and no machine should need */
#define SCAN_NS	       (10 * 1000000L) /* of each second, once everything was looked at */
#define YOUNG_SCANS    10 /* a new process may load CUDA late: looked at more often at first */
#define MOST_PROCESSES 65536

struct seen_process {
	uint32_t pid;
	uint32_t looks;
};

struct targets {
	struct file_id {
		dev_t device;
		ino_t inode;
	} files[MOST_FILES];
	int file_count;
	char name[NAME_MAX + 2];   /* "/NAME" of the one that was chosen; "" = none */
	struct seen_process *seen; /* ordered by pid, as /proc is */
	size_t seen_count;
	uint32_t cursor; /* pid where the next scan of old processes goes on */
	bool scanned;
};

int targets__guest_path(char path[PATH_MAX], bool quiet)
{
	const char *given = getenv("CUDA_TRACE_GUEST");
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = n > 0 ? strrchr(self, '/') : NULL;

	if (given && *given) {
		if (realpath(given, path))
			return 0;
		fprintf(stderr, "cuda-trace: CUDA_TRACE_GUEST=%s: %s\n", given, strerror(errno));
		return -ENOENT;
	}
	if (slash) {
		snprintf(slash + 1, sizeof(self) - (slash + 1 - self), "%s", CUDA_GUEST_NAME);
		if (realpath(self, path))
			return 0;
	}
	if (realpath(GUESTDIR "/" CUDA_GUEST_NAME, path))
		return 0;
	if (quiet)
		return -ENOENT;
	fprintf(stderr,
		"cuda-trace: %s is not there: install the package libcupti-usdt, or set "
		"CUDA_TRACE_GUEST to the library's path\n",
		GUESTDIR "/" CUDA_GUEST_NAME);
	return -ENOENT;
}

struct targets *targets__new(void)
{
	return calloc(1, sizeof(struct targets));
}

void targets__free(struct targets *targets)
{
	if (!targets)
		return;
	free(targets->seen);
	free(targets);
}

void targets__add_named(struct targets *targets, const char *path, targets_found found,
			void *context)
{
	const char *name = strrchr(path, '/');

	if (name && strlen(name) < sizeof(targets->name))
		strcpy(targets->name, name);
	targets__add(targets, path, found, context);
}

void targets__add(struct targets *targets, const char *path, targets_found found, void *context)
{
	struct stat file;

	/* Never opened before this: a name in /proc/PID/root may lead to a FIFO or a device. */
	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return;
	for (int i = 0; i < targets->file_count; i++)
		if (targets->files[i].inode == file.st_ino &&
		    targets->files[i].device == file.st_dev)
			return;
	if (targets->file_count == MOST_FILES)
		return;
	targets->files[targets->file_count++] = (struct file_id){file.st_dev, file.st_ino};
	found(context, path);
}

static bool ends_in(const char *path, size_t length, const char *name)
{
	size_t tail = strlen(name);

	return tail && length >= tail && !strncmp(path + length - tail, name, tail);
}

/* Does the mapped path end in a guest's name? Cuts " (deleted)" off. */
static bool is_guest(const struct targets *targets, char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path);

	if (ends_in(path, length, deleted))
		length -= sizeof(deleted) - 1;
	/* A copy in memory is what cuda-trace attach brings to another mount namespace. */
	if (!ends_in(path, length, "/" CUDA_GUEST_NAME) &&
	    !ends_in(path, length, "/memfd:" CUDA_GUEST_NAME) && !ends_in(path, length, targets->name))
		return false;
	path[length] = 0;
	return true;
}

void targets__look(struct targets *targets, uint32_t pid, targets_found found, targets_look look,
		   void *context)
{
	char name[PATH_MAX + 32], *line = NULL;
	bool has_guest = false;
	size_t size = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && getline(&line, &size, maps) > 0) {
		char range[40], permissions[8];
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if ((!strstr(line, CUDA_GUEST_NAME) &&
		     (!*targets->name || !strstr(line, targets->name))) ||
		    sscanf(line, "%39s %7s %*s %*s %*s %n", range, permissions, &at) != 2 || !at ||
		    permissions[2] != 'x' || !is_guest(targets, line + at))
			continue;
		/* The mapped file itself, even when its name is gone or means another one by now;
		 * needs CAP_CHECKPOINT_RESTORE, without it the name must do. */
		snprintf(name, sizeof(name), "/proc/%u/map_files/%s", pid, range);
		if (access(name, R_OK))
			snprintf(name, sizeof(name), "/proc/%u/root%s", pid, line + at);
		targets__add(targets, name, found, context);
		has_guest = true;
	}
	free(line);
	if (maps)
		fclose(maps);
	look(context, pid, has_guest ? name : NULL);
}

static long now_ns(void)
{
	struct timespec now;

	/* Not the wall clock: on a busy machine that runs without us. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static size_t list_processes(struct seen_process **list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0, room = 0;

	*list = NULL;
	while (proc && n < MOST_PROCESSES && (entry = readdir(proc))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (*end || !pid)
			continue;
		if (n == room) {
			struct seen_process *larger;

			room = room ? room * 2 : 256;
			larger = reallocarray(*list, room, sizeof(**list));
			if (!larger)
				break;
			*list = larger;
		}
		(*list)[n++] = (struct seen_process){.pid = pid};
	}
	if (proc)
		closedir(proc);
	return n;
}

/* /proc lists by number, so both lists are in order. A number that was used again meanwhile keeps
 * its count: the turn of the old ones reaches it, too. */
static void carry_over(const struct targets *targets, struct seen_process *list, size_t n)
{
	size_t old = 0;

	for (size_t i = 0; i < n; i++) {
		while (old < targets->seen_count && targets->seen[old].pid < list[i].pid)
			old++;
		if (old < targets->seen_count && targets->seen[old].pid == list[i].pid)
			list[i].looks = targets->seen[old].looks;
	}
}

void targets__scan(struct targets *targets, targets_found found, targets_look look, void *context)
{
	long until = now_ns() + SCAN_NS;
	struct seen_process *list;
	size_t n = list_processes(&list);
	size_t turn = 0;

	carry_over(targets, list, n);
	/* The newest first: numbers rise, and what runs for long has been looked at. */
	for (size_t i = n; i-- > 0;) {
		if (targets->scanned && (list[i].looks >= YOUNG_SCANS || now_ns() > until))
			continue;
		list[i].looks = targets->scanned ? list[i].looks + 1 : YOUNG_SCANS;
		targets__look(targets, list[i].pid, found, look, context);
	}
	while (turn < n && list[turn].pid <= targets->cursor)
		turn++;
	for (size_t i = 0; targets->scanned && i < n && now_ns() < until; i++) {
		struct seen_process *process = &list[(turn + i) % n];

		targets__look(targets, process->pid, found, look, context);
		targets->cursor = process->pid;
	}
	free(targets->seen);
	targets->seen = list;
	targets->seen_count = n;
	targets->scanned = true;
}
