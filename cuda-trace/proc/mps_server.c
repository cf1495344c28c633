// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/proc/mps_server.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"

#define SERVER	 "nvidia-cuda-mps-server"
#define PAUSE_OF 10 /* times as long as the last look took */

/* By its file's name: a process writes its command line itself. */
static bool is_server(const char *name)
{
	char path[300], target[PATH_MAX];
	const char *base;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%s/exe", name);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return false;
	target[length] = 0;
	base = strrchr(target, '/');
	return base && !strcmp(base + 1, SERVER);
}

static bool look(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (proc && !found && (entry = readdir(proc)))
		found = *entry->d_name >= '1' && *entry->d_name <= '9' && is_server(entry->d_name);
	if (proc)
		closedir(proc);
	return found;
}

bool mps_server__runs(void)
{
	static uint64_t next;
	static bool runs;
	uint64_t now = monotonic__ns(), took;

	if (now < next)
		return runs;
	runs = look();
	took = monotonic__ns() - now;
	next = now + took + PAUSE_OF * took;
	return runs;
}
