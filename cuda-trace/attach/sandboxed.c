// SPDX-License-Identifier: BSD-2-Clause
/*
 * A container's filter is there before cuInit(), and the agent's thread, which was made under it,
 * proves that threads may be made. So what counts is whether there are more filters than then: the
 * agent keeps their number beside the semaphore of cuda:sandboxed. What cannot be read counts as
 * forbidden.
 *
 * Of hundreds of containers each has its own copy of the library, and filters. To read the mappings
 * of all processes for each file would take minutes, so that which process with filters maps which
 * file as data is kept for a moment: then only the processes that map this file are read again.
 * Missed is one that began since and has forbidden itself something already. Called on the tool's
 * one thread.
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
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "libcupti-usdt/agent_memory.h"
#include "libcupti-usdt/probes.h"

#define SITES	    128
#define MAX_THREADS 65536
#define KEPT_NS	    100000000ull /* or twice what reading took: most time is for attaching */
#define MAX_KEPT    65536
#define MAX_OF_ONE  1024 /* of a process; one that maps more is read each time */

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

/* Calls `handle` for each file that the process maps as data, until that returns false. */
static void each_data(uint32_t pid,
		      bool (*handle)(void *context, uint64_t start, uint64_t size, uint64_t offset,
				     const struct foreign_file *file),
		      bool (*is_wanted)(void *context, uint64_t size, uint64_t offset),
		      void *context)
{
	char name[PATH_MAX], *line = NULL;
	bool goes_on = true;
	size_t size = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (goes_on && maps && getline(&line, &size, maps) > 0) {
		uint64_t start, end, offset;
		char mode[5];
		struct foreign_file found;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, &start, &end, mode,
			   &offset) != 4 ||
		    strcmp(mode, "rw-p") || !strchr(line, '/') ||
		    !is_wanted(context, end - start, offset))
			continue;
		snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIx64, start, end);
		line[strcspn(line, "\n")] = 0;
		if (!foreign_file__identify(&found, pid, name, strchr(line, '/')))
			continue;
		goes_on = handle(context, start, end - start, offset, &found);
		foreign_file__close(&found);
	}
	free(line);
	if (maps)
		fclose(maps);
}

struct search {
	const struct file *file;
	uint64_t address;
};

static bool may_have(void *context, uint64_t size, uint64_t offset)
{
	const struct file *file = ((struct search *)context)->file;

	return file->offset >= offset &&
	       file->offset - offset + sizeof(struct cuda_sandbox) <= size;
}

static bool compare(void *context, uint64_t start, uint64_t size, uint64_t offset,
		    const struct foreign_file *found)
{
	struct search *search = context;

	if (found->inode != search->file->id.st_ino || found->device != search->file->id.st_dev)
		return true;
	search->address = start + (search->file->offset - offset);
	return false;
}

/* Where that part of the file lies in the process, as data; 0 = it does not map the file. */
static uint64_t find_data(uint32_t pid, const struct file *file)
{
	struct search search = {.file = file};

	each_data(pid, compare, may_have, &search);
	return search.address;
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

/* ---- what is kept ---- */

struct kept {
	uint32_t pid;
	bool any; /* it may map any file */
	dev_t device;
	ino_t inode;
};

static struct kept *kept;
static uint32_t kept_count, kept_capacity;
static uint64_t kept_until;

static bool keep(const struct kept *entry)
{
	if (!array_grow__for_one(kept, kept_capacity, kept_count))
		return false;
	kept[kept_count++] = *entry;
	return true;
}

static bool keep_data(void *context, uint64_t start, uint64_t size, uint64_t offset,
		      const struct foreign_file *found)
{
	const uint32_t *first = context;
	struct kept entry = {kept[*first].pid, false, found->device, found->inode};

	if (kept_count < MAX_KEPT && kept_count - *first < MAX_OF_ONE && keep(&entry))
		return true;
	kept_count = *first + 1;
	kept[*first].any = true;
	return false;
}

static bool is_any(void *context, uint64_t size, uint64_t offset)
{
	return size >= sizeof(struct cuda_sandbox);
}

/* False = out of memory. */
static bool keep_process(uint32_t pid)
{
	uint32_t first = kept_count;

	if (!pid || !most_filters(pid))
		return true;
	if (!keep(&(struct kept){.pid = pid}))
		return false;
	each_data(pid, keep_data, is_any, &first);
	return true;
}

/* False = out of memory. */
static bool refresh(void)
{
	uint64_t began = monotonic__ns(), took;
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	bool complete = true;

	kept_count = 0;
	while (complete && processes && (entry = readdir(processes)))
		complete = keep_process(strtoul(entry->d_name, NULL, 10));
	if (processes)
		closedir(processes);
	took = monotonic__ns() - began;
	kept_until = began + took + (2 * took > KEPT_NS ? 2 * took : KEPT_NS);
	return complete;
}

void sandboxed__each(const char *path, uint32_t pid, void (*found)(void *context, uint32_t pid),
		     void *context)
{
	struct file file;

	if (!find_place(path, &file))
		return;
	if (pid) {
		if (is_sandboxed(pid, &file))
			found(context, pid);
		return;
	}
	if (monotonic__ns() >= kept_until && !refresh())
		kept_until = 0;
	pid = 0;
	for (uint32_t i = 0; i < kept_count; i++) {
		bool maps = kept[i].any ||
			    (kept[i].inode == file.id.st_ino && kept[i].device == file.id.st_dev);

		if (!maps || kept[i].pid == pid)
			continue;
		pid = kept[i].pid;
		if (is_sandboxed(pid, &file))
			found(context, pid);
	}
}
