// SPDX-License-Identifier: BSD-2-Clause
/*
 * uprobe_multi links (Linux 6.6): fifty links of their own would take five seconds to remove.
 * Called by driver_source.c.
 */
#include "cuda-trace/driver/driver_links.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "bpf/event.h"
#include "cuda-trace/attach/multi_link.h"

static const char *const programs[DRIVER_LINKS] = {"driver_entry", "driver_return",
						   "driver_failure"};

void driver_links__prepare(struct bpf_object *object, bool wanted)
{
	for (int i = 0; i < DRIVER_LINKS; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i]);

		if (!program)
			continue; /* sums have none for failures */
		if (wanted)
			bpf_program__set_expected_attach_type(program, MULTI_LINK_ATTACH_TYPE);
		else
			bpf_program__set_autoload(program, false);
	}
}

static int attach(struct bpf_object *object, const char *program, const char *path,
		  const struct driver_points *at, uint32_t pid, bool at_return)
{
	uint64_t cookies[sizeof(at->cookies) / sizeof(at->cookies[0])];
	const struct multi_link_points points = {
		.offsets = at->offsets,
		.cookies = cookies,
		.count = at->count,
		.pid = pid,
	};

	for (uint32_t i = 0; i < at->count; i++)
		cookies[i] = at->cookies[i] | (pid ? DRIVER_OWN_LINK : 0);

	return multi_link__new(bpf_program__fd(bpf_object__find_program_by_name(object, program)),
			       path, &points, at_return);
}

/* Entries come last and go first: whatever is seen to begin is seen to fail or to return. */
int driver_links__attach(struct bpf_object *object, const char *path,
			 const struct driver_probes *probes, uint32_t pid, int links[DRIVER_LINKS])
{
	const struct driver_points *points[DRIVER_LINKS] = {&probes->entries, &probes->returns,
							    &probes->failures};
	int err = 0;

	for (int i = 0; i < DRIVER_LINKS; i++)
		links[i] = -1;
	for (int i = DRIVER_LINKS - 1; i >= 0 && !err; i--) {
		if (!points[i]->count)
			continue;
		links[i] = attach(object, programs[i], path, points[i], pid, i == 1);
		err = links[i] < 0 ? links[i] : 0;
	}
	if (err)
		driver_links__close(links);
	return err;
}

void driver_links__close(int links[DRIVER_LINKS])
{
	for (int i = 0; i < DRIVER_LINKS; i++) {
		if (links[i] >= 0)
			close(links[i]);
		links[i] = -1;
	}
}

/* What the trial's link is on; called by a thread that is not the first. */
static __attribute__((noinline)) void be_probed(void)
{
	__asm__ volatile("");
}

static void *run_trial(void *context)
{
	be_probed();
	return context;
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

bool driver_links__know_processes(struct bpf_object *object)
{
	int trials = bpf_object__find_map_fd_by_name(object, "driver_trials");
	const struct driver_points point = {
		.offsets = {own_offset((uintptr_t)be_probed)},
		.cookies = {DRIVER_TRIAL},
		.count = 1,
	};
	uint32_t zero = 0;
	uint64_t hits = 0;
	pthread_t thread;
	int link = point.offsets[0] ? attach(object, "driver_entry", "/proc/self/exe", &point,
					     getpid(), false)
				    : -1;

	if (link < 0)
		return false;
	if (!pthread_create(&thread, NULL, run_trial, NULL))
		pthread_join(thread, NULL);
	close(link);
	return !bpf_map_lookup_elem(trials, &zero, &hits) && hits;
}
