// SPDX-License-Identifier: BSD-2-Clause
/*
 * "START SIZE NAME" in hexadecimal, one function a line, appended to while the program runs. It is
 * opened while the process lives, in the process's own root and by its own number there, and read
 * when names are wanted. Untrusted: whoever may write to that folder may have written anything.
 */
#include "cuda-trace/perf_map.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_BYTES   (256l << 20)
#define LONGEST_NAME 4096

struct perf_map {
	int fd;
};

/* The last of the numbers of NSpid: as the process itself knows it. */
static uint32_t own_number(uint32_t pid)
{
	char path[32], *line = NULL, *last;
	uint32_t number = pid;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		last = strrchr(line, '\t');
		if (last)
			number = strtoul(last + 1, NULL, 10);
		break;
	}
	free(line);
	if (file)
		fclose(file);
	return number;
}

struct perf_map *perf_map__open(uint32_t pid)
{
	struct open_how how = {
		/* A FIFO of that name must not make us wait. */
		.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	struct perf_map *map = malloc(sizeof(*map));
	char root[64], name[64];
	struct stat st;
	int root_fd;

	if (!map)
		return NULL;
	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", own_number(pid));
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	map->fd = root_fd < 0 ? -1 : (int)syscall(SYS_openat2, root_fd, name, &how, sizeof(how));
	if (root_fd >= 0)
		close(root_fd);
	if (map->fd < 0 || fstat(map->fd, &st) || !S_ISREG(st.st_mode)) {
		perf_map__free(map);
		return NULL;
	}
	return map;
}

/* Code may be thrown away and its place be used again: the last line that fits counts. */
char *perf_map__at(struct perf_map *map, uint64_t address)
{
	char *line = NULL, *found = NULL;
	int fd = dup(map->fd);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	size_t size = 0;
	long read = 0;
	ssize_t n;

	if (file)
		rewind(file);
	while (file && read < MOST_BYTES && (n = getline(&line, &size, file)) > 0) {
		unsigned long long start, length;
		int at = 0;

		read += n;
		if (sscanf(line, "%llx %llx %n", &start, &length, &at) < 2 || !at ||
		    address - start >= length)
			continue;
		line[strcspn(line, "\n")] = 0;
		free(found);
		found = strndup(line + at, LONGEST_NAME);
	}
	free(line);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	return found;
}

void perf_map__free(struct perf_map *map)
{
	if (!map)
		return;
	if (map->fd >= 0)
		close(map->fd);
	free(map);
}
