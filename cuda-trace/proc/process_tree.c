// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks /proc/PID/task/TID/children. The eBPF program adds the children of processes that are in
 * the map already; running until a pass finds nothing new closes the gap between the two.
 */
#include "cuda-trace/proc/process_tree.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define DEEPEST 64

static int add_children(int map, uint32_t pid, int depth, bool *news);

static int add_one(int map, uint32_t pid, int depth, bool *news)
{
	uint8_t one = 1;

	if (!bpf_map_update_elem(map, &pid, &one, BPF_NOEXIST))
		*news = true;
	else if (errno != EEXIST)
		return -errno;
	return depth < DEEPEST ? add_children(map, pid, depth + 1, news) : 0;
}

static int add_children_of_thread(int map, uint32_t pid, const char *tid, int depth, bool *news)
{
	char name[320];
	unsigned int child;
	FILE *children;
	int err = 0;

	snprintf(name, sizeof(name), "/proc/%u/task/%s/children", pid, tid);
	children = fopen(name, "re");
	while (children && !err && fscanf(children, "%u", &child) == 1)
		err = add_one(map, child, depth, news);
	if (children)
		fclose(children);
	return err;
}

static int add_children(int map, uint32_t pid, int depth, bool *news)
{
	char name[64];
	struct dirent *entry;
	DIR *tasks;
	int err = 0;

	snprintf(name, sizeof(name), "/proc/%u/task", pid);
	tasks = opendir(name);
	while (tasks && !err && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			err = add_children_of_thread(map, pid, entry->d_name, depth, news);
	if (tasks)
		closedir(tasks);
	return err;
}

int tree__add(int map, uint32_t pid)
{
	bool news;
	int err;

	do {
		news = false;
		err = add_one(map, pid, 0, &news);
	} while (news && !err);
	return err;
}
