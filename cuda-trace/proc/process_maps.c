// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads /proc/PID/{maps,comm,status}. Used by list, doctor, and for -p's remarks.
 */
#include "cuda-trace/proc/process_maps.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cuda-trace/base/text.h"
#include "libcupti-usdt/probes.h"

/* PyTorch built from source has NCCL in libtorch_cuda.so. */
static void note_nccl(struct inspection *inspection, const char *line, const char *path,
		      const char *name)
{
	bool is_nccl = !strncmp(name, "libnccl.so", 10);

	if (!is_nccl && (strncmp(name, "libtorch_cuda.so", 16) || *inspection->nccl))
		return;
	snprintf(inspection->nccl, sizeof(inspection->nccl), "%s", path);
	snprintf(inspection->nccl_range, sizeof(inspection->nccl_range), "%.*s",
		 (int)strcspn(line, " "), line);
}

/* "range permissions …" */
static bool is_code(const char *line)
{
	const char *permissions = strchr(line, ' ');

	return permissions && strnlen(permissions, 4) == 4 && permissions[3] == 'x';
}

static void look_at_line(struct inspection *inspection, const char *line, const char *path)
{
	const char *name = strrchr(path, '/');

	if (!name)
		return;
	name++;
	note_nccl(inspection, line, path, name);
	if (!strncmp(name, "libcuda.so", 10)) {
		inspection->cuda = true;
		inspection->cuda_code |= is_code(line);
		snprintf(inspection->libcuda, sizeof(inspection->libcuda), "%s", path);
		snprintf(inspection->libcuda_range, sizeof(inspection->libcuda_range), "%.*s",
			 (int)strcspn(line, " "), line);
	} else if (!strncmp(name, CUDA_AGENT_NAME, strlen(CUDA_AGENT_NAME)) ||
		   !strncmp(name, "memfd:" CUDA_AGENT_NAME, strlen("memfd:" CUDA_AGENT_NAME))) {
		inspection->agent = true;
	} else if (!strncmp(name, "libcupti.so", 11)) {
		inspection->cupti = true;
	}
}

static void read_maps(uint32_t pid, struct inspection *inspection)
{
	char name[64], *line = NULL;
	size_t size = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	inspection->refused = !maps && (errno == EACCES || errno == EPERM);
	if (!maps)
		return;
	errno = 0;
	while (getline(&line, &size, maps) > 0) {
		char *path = strchr(line, '/');

		if (!path)
			continue;
		path[strcspn(path, "\n")] = 0;
		look_at_line(inspection, line, path);
	}
	inspection->readable = !errno;
	free(line);
	fclose(maps);
}

/* The agent's thread has a name of its own. */
static bool has_agent_thread(uint32_t pid)
{
	char path[300], name[32];
	struct dirent *entry;
	bool found = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		FILE *comm;

		snprintf(path, sizeof(path), "/proc/%u/task/%s/comm", pid, entry->d_name);
		comm = *entry->d_name == '.' ? NULL : fopen(path, "re");
		if (!comm)
			continue;
		found = fgets(name, sizeof(name), comm) && !strcmp(name, "cupti-usdt\n");
		fclose(comm);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

int process_maps__process(uint32_t pid, struct inspection *inspection)
{
	char name[64];
	struct stat folder;
	FILE *comm;

	memset(inspection, 0, sizeof(*inspection));
	snprintf(name, sizeof(name), "/proc/%u", pid);
	if (stat(name, &folder))
		return -ESRCH;
	inspection->uid = folder.st_uid;
	snprintf(name, sizeof(name), "/proc/%u/comm", pid);
	comm = fopen(name, "re");
	if (comm) {
		size_t n = fread(inspection->comm, 1, sizeof(inspection->comm) - 1, comm);

		if (n && inspection->comm[n - 1] == '\n')
			inspection->comm[n - 1] = 0;
		fclose(comm);
	}
	read_maps(pid, inspection);
	inspection->asleep = inspection->agent && !has_agent_thread(pid);
	return 0;
}

void process_maps__remark(uint32_t pid, bool attaches)
{
	struct inspection inspection;
	char comm[64];

	if (process_maps__process(pid, &inspection))
		return;
	text__show(comm, sizeof(comm), inspection.comm, 0);
	if (!inspection.readable)
		fprintf(stderr, "cuda-trace: the maps of process %u (%s) cannot be read\n", pid,
			comm);
	else if (!inspection.cuda)
		fprintf(stderr,
			"cuda-trace: process %u (%s) is not a CUDA program yet (libcuda.so is not "
			"loaded): waiting for it\n",
			pid, comm);
	else if (!inspection.agent && !attaches)
		fprintf(stderr,
			"cuda-trace: process %u (%s) was started without the injection library: no "
			"GPU "
			"times; leave out --no-attach to load it now\n",
			pid, comm);
}
