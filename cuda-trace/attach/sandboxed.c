// SPDX-License-Identifier: BSD-2-Clause
/*
 * A container's filter is there before cuInit(), and the agent's thread, which was made under it,
 * proves that threads may be made. So what counts is whether there are more filters than then: the
 * agent keeps their number beside the semaphore of cuda:sandboxed. What cannot be read counts as
 * forbidden. Called on the tool's one thread.
 */
#include "cuda-trace/attach/sandboxed.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/attach/probe_sites.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "libcupti-usdt/agent_memory.h"
#include "libcupti-usdt/probes.h"

#define SITES	    128
#define MAX_THREADS 65536

struct file {
	struct stat id;
	uint64_t offset; /* of struct cuda_sandbox */
};

/* Of one thread; 0 also if it is gone. */
static uint32_t filters_of(const char *status)
{
	uint32_t filters = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(status, "re");

	while (file && getline(&line, &size, file) > 0)
		if (sscanf(line, "Seccomp_filters: %" SCNu32, &filters) == 1)
			break;
	free(line);
	if (file)
		fclose(file);
	return filters;
}

/* The most of any thread: a filter is one thread's, unless it was set for all. */
static uint32_t most_filters(uint32_t pid)
{
	char name[PATH_MAX];
	uint32_t most = 0;
	struct dirent *entry;
	DIR *threads;

	snprintf(name, sizeof(name), "/proc/%u/task", pid);
	threads = opendir(name);
	for (int i = 0; threads && i < MAX_THREADS && (entry = readdir(threads)); i++) {
		uint32_t filters;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(name, sizeof(name), "/proc/%u/task/%.20s/status", pid, entry->d_name);
		filters = filters_of(name);
		most = filters > most ? filters : most;
	}
	if (threads)
		closedir(threads);
	return most;
}

/* Where that part of the file lies in the process, as data; 0 = it does not map the file. */
static uint64_t find_data(uint32_t pid, const struct file *file)
{
	char name[PATH_MAX], *line = NULL;
	uint64_t address = 0;
	size_t size = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (!address && maps && getline(&line, &size, maps) > 0) {
		uint64_t start, end, offset;
		char mode[5];
		struct foreign_file found;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, &start, &end, mode,
			   &offset) != 4 ||
		    strcmp(mode, "rw-p") || !strchr(line, '/') || file->offset < offset ||
		    file->offset - offset + sizeof(struct cuda_sandbox) > end - start)
			continue;
		snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIx64, start, end);
		line[strcspn(line, "\n")] = 0;
		if (!foreign_file__identify(&found, pid, name, strchr(line, '/')))
			continue;
		if (found.inode == file->id.st_ino && found.device == file->id.st_dev)
			address = start + (file->offset - offset);
		foreign_file__close(&found);
	}
	free(line);
	if (maps)
		fclose(maps);
	return address;
}

static bool is_sandboxed(uint32_t pid, const struct file *file)
{
	struct cuda_sandbox sandbox = {.filters = UINT32_MAX};
	uint32_t filters = most_filters(pid);
	uint64_t address = filters ? find_data(pid, file) : 0;
	char name[64];
	int memory;

	if (!address)
		return false;
	snprintf(name, sizeof(name), "/proc/%u/mem", pid);
	memory = open(name, O_RDONLY | O_CLOEXEC);
	if (memory >= 0 && pread(memory, &sandbox, sizeof(sandbox), address) != sizeof(sandbox))
		sandbox.filters = UINT32_MAX;
	if (memory >= 0)
		close(memory);
	/* Not started yet: it begins under the filters that there are. */
	if (!sandbox.filters)
		return false;
	return sandbox.filters == UINT32_MAX || filters > sandbox.filters - 1;
}

static bool find_place(const char *path, struct file *file)
{
	struct probe_site sites[SITES];
	int count = probe_sites__read(path, CUDA_PROVIDER, sites, SITES);

	if (stat(path, &file->id))
		return false;
	for (int i = 0; i < count; i++)
		if (!strcmp(sites[i].name, "sandboxed")) {
			file->offset = sites[i].semaphore;
			return file->offset != 0;
		}
	return false;
}

void sandboxed__each(const char *path, uint32_t pid, void (*found)(void *context, uint32_t pid),
		     void *context)
{
	struct dirent *entry;
	struct file file;
	DIR *processes;

	if (!find_place(path, &file))
		return;
	if (pid) {
		if (is_sandboxed(pid, &file))
			found(context, pid);
		return;
	}
	processes = opendir("/proc");
	while (processes && (entry = readdir(processes))) {
		pid = strtoul(entry->d_name, NULL, 10);
		if (pid && is_sandboxed(pid, &file))
			found(context, pid);
	}
	if (processes)
		closedir(processes);
}
