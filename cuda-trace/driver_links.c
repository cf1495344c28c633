// SPDX-License-Identifier: BSD-2-Clause
/*
 * uprobe_multi links (Linux 6.6): fifty links of their own would take five seconds to remove.
 * Called by driver_source.c.
 */
#include "cuda-trace/driver_links.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "cuda-trace/multi_link.h"

#define TRIAL_COOKIE 0xff /* a shape that no call has */

void driver_links__prepare(struct bpf_object *object, bool wanted)
{
	static const char *const programs[] = {"driver_entry", "driver_return"};

	for (int i = 0; i < 2; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i]);

		if (wanted)
			bpf_program__set_expected_attach_type(program, MULTI_LINK_ATTACH_TYPE);
		else
			bpf_program__set_autoload(program, false);
	}
}

static int attach(struct bpf_object *object, const char *program, const char *path,
		  const struct driver_probes *probes, uint32_t pid, bool at_return)
{
	const struct multi_link_points points = {
		.offsets = probes->offsets,
		.cookies = probes->cookies,
		.count = probes->count,
		.pid = pid,
	};

	return multi_link__new(bpf_program__fd(bpf_object__find_program_by_name(object, program)),
			       path, &points, at_return);
}

int driver_links__attach(struct bpf_object *object, const char *path,
			 const struct driver_probes *probes, uint32_t pid, int links[2])
{
	links[0] = attach(object, "driver_entry", path, probes, pid, false);
	if (links[0] < 0)
		return links[0];
	links[1] = attach(object, "driver_return", path, probes, pid, true);
	if (links[1] >= 0)
		return 0;
	close(links[0]);
	return links[1];
}

/* What the trial's link is on; called by a thread that is not the first. */
static __attribute__((noinline)) void be_probed(pid_t *tid)
{
	*tid = gettid();
	__asm__ volatile("");
}

static void *run_trial(void *tid)
{
	be_probed(tid);
	return NULL;
}

/* Where a function of this program lies in its file. */
static uint64_t own_offset(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long start, end, offset, found = 0;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 &&
		    address >= start && address < end)
			found = address - start + offset;
	if (maps)
		fclose(maps);
	return found;
}

/* driver_entry notes a call of be_probed() as it notes one of libcuda. */
bool driver_links__know_processes(struct bpf_object *object)
{
	int pids = bpf_object__find_map_fd_by_name(object, "driver_pids");
	int threads = bpf_object__find_map_fd_by_name(object, "driver_threads");
	uint64_t offset = own_offset((uintptr_t)be_probed), cookie = TRIAL_COOKIE, number = 0, task;
	const struct driver_probes probe = {&offset, &cookie, 1};
	uint32_t self = getpid();
	pthread_t thread;
	pid_t tid = 0;
	int link =
		offset ? attach(object, "driver_entry", "/proc/self/exe", &probe, self, false) : -1;
	bool fired;

	if (link < 0)
		return false;
	bpf_map_update_elem(pids, &self, &number, BPF_ANY);
	if (!pthread_create(&thread, NULL, run_trial, &tid))
		pthread_join(thread, NULL);
	task = (uint64_t)self << 32 | (uint32_t)tid;
	fired = tid && !bpf_map_delete_elem(threads, &task);
	bpf_map_delete_elem(pids, &self);
	close(link);
	return fired;
}
