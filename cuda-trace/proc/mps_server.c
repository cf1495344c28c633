// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/proc/mps_server.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

#define SERVER	 "nvidia-cuda-mps-server"
#define PAUSE_OF 10 /* times as long as the last look took */

static size_t read_start(const char *name, const char *file, char *text, size_t size)
{
	char path[300];
	FILE *stream;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%s/%s", name, file);
	stream = fopen(path, "re");
	if (!stream)
		return 0;
	length = fread(text, 1, size - 1, stream);
	text[length] = 0;
	fclose(stream);
	return length;
}

/* The kernel's name of a process has 15 characters, which those of its control daemon are, too. */
static bool is_server(const char *name)
{
	char text[512];
	const char *base;

	if (!read_start(name, "comm", text, sizeof(text)) || strncmp(text, SERVER, 15) != 0 ||
	    !read_start(name, "cmdline", text, sizeof(text)))
		return false;
	base = strrchr(text, '/');
	return !strcmp(base ? base + 1 : text, SERVER);
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
