// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI's first subscription in a process needs one moment in which no thread is inside of the
 * driver, and does not get it where some threads launch without a pause. So they are held for some
 * microseconds before each launch, by a uprobe at libcuda's launch functions, from when the guest
 * says that it begins (cuda:status, `subscribing`) until it says how that ended.
 *
 * Fears: 1. the tool dies or is stopped: links end with it, and the program holds nobody for longer
 * than the bound (bpf/hold.h). 2. the guest never answers, or lies: each load of it is held once,
 * for the bound. 3. the process forks, execs, ends: only those count that still say so, each time
 * that is looked; a child is another process. 4. others map the same libcuda: the link is of the
 * one process where the kernel can, else of all, which lose a trap a launch meanwhile, whatever the
 * number of those that are held. 5. another tool does the same: a launch waits for both.
 */
#include "cuda-trace/capture/launch_hold.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cuda-trace/driver/driver_functions.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/capture/process.h"

#define MOST_HELD 256 /* as many as the map `held` takes */

struct held {
	uint64_t instance;
	uint64_t since; /* ns */
	uint32_t pid;
	int link; /* -1 = none any more: it is not held twice */
	dev_t device;
	ino_t inode;
	bool seen; /* since hold__tidy() */
};

struct hold {
	struct bpf_object *object;
	bool possible; /* else who cannot be held is told of, no more */
	bool verbose;
	bool by_process;
	bool complained;
	struct held held[MOST_HELD];
	int count;
};

struct hold *hold__new(struct bpf_object *object, bool wanted, bool verbose)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "hold_launch");
	const char *choice = getenv("CUDA_TRACE_HOLD");
	struct hold *hold = NULL;

	if (wanted)
		hold = calloc(1, sizeof(*hold));
	/* So that what happens without can be seen. */
	if (hold)
		hold->possible = (!choice || strcmp(choice, "0")) && multi_link__supported();
	if (!hold || !hold->possible)
		bpf_program__set_autoload(program, false);
	else
		bpf_program__set_expected_attach_type(program, MULTI_LINK_ATTACH_TYPE);
	if (!hold)
		return NULL;
	hold->object = object;
	hold->verbose = verbose;
	return hold;
}

void hold__mean_processes(struct hold *hold)
{
	if (hold)
		hold->by_process = true;
}

static struct held *find(struct hold *hold, uint32_t pid)
{
	for (int i = 0; i < hold->count; i++)
		if (hold->held[i].pid == pid)
			return &hold->held[i];
	return NULL;
}

/* A link or -errno. */
static int link_launches(const struct hold *hold, const char *path, uint32_t pid)
{
	struct bpf_program *program = bpf_object__find_program_by_name(hold->object, "hold_launch");
	struct multi_link_points points = {.pid = pid};
	uint64_t offsets[DRIVER_POINTS_MOST];
	struct driver_probes probes;
	int err = driver_functions__find(path, false, &probes);

	for (uint32_t i = 0; !err && i < probes.entries.count; i++)
		if (driver_functions__is_launch(probes.entries.cookies[i]))
			offsets[points.count++] = probes.entries.offsets[i];
	if (err || !points.count)
		return err ? err : -ENOENT;
	points.offsets = offsets;
	return multi_link__new(bpf_program__fd(program), path, &points, false);
}

/* Those of the same file share a link of all processes. */
static int share_link(const struct hold *hold, const struct held *held)
{
	for (int i = 0; i < hold->count; i++)
		if (hold->held[i].link >= 0 && hold->held[i].device == held->device &&
		    hold->held[i].inode == held->inode)
			return fcntl(hold->held[i].link, F_DUPFD_CLOEXEC, 0);
	return -1;
}

/* The file is never opened before it is known to be one: the name may lead to a FIFO or a device.
 */
static int grasp(const struct hold *hold, struct held *held)
{
	struct inspection seen;
	char path[PATH_MAX];
	struct stat file;
	int link = -1;

	if (inspect__process(held->pid, &seen) || !seen.cuda)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%u/root%s", held->pid, seen.libcuda);
	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return -ENOENT;
	if (hold->by_process)
		link = link_launches(hold, path, held->pid);
	/* Links of a process mean its first thread, which may have ended. */
	if (link >= 0)
		return link;
	held->device = file.st_dev;
	held->inode = file.st_ino;
	link = share_link(hold, held);
	return link >= 0 ? link : link_launches(hold, path, 0);
}

static void let_go(struct hold *hold, struct held *held)
{
	int map = bpf_object__find_map_fd_by_name(hold->object, "held");

	if (held->link < 0)
		return;
	bpf_map_delete_elem(map, &held->pid);
	link_closer__close(held->link);
	held->link = -1;
	if (hold->verbose)
		fprintf(stderr, "cuda-trace: launches of process %u were held for %.1f ms\n",
			held->pid, (monotonic__ns() - held->since) / 1e6);
}

static void begin(struct hold *hold, struct held *held, const struct process *process)
{
	int map = bpf_object__find_map_fd_by_name(hold->object, "held");

	*held = (struct held){.instance = process->instance,
			      .since = monotonic__ns(),
			      .pid = process->pid,
			      .link = -1,
			      .seen = true};
	if (!hold->possible)
		held->link = -EOPNOTSUPP;
	else
		held->link = bpf_map_update_elem(map, &held->pid, &held->since, BPF_ANY)
				     ? -errno
				     : grasp(hold, held);
	if (held->link >= 0)
		return;
	bpf_map_delete_elem(map, &held->pid);
	if (hold->verbose)
		fprintf(stderr, "cuda-trace: launches of process %u cannot be held: %s\n",
			held->pid, strerror(-held->link));
	held->link = -1;
}

static bool is_subscribing(const struct process *process)
{
	return process->status.subscribing && !process->ended &&
	       process->status.state != CUDA_STATE_ENDED;
}

void hold__look(struct hold *hold, const struct process *process)
{
	struct held *held;

	if (!hold || !is_subscribing(process))
		return;
	held = find(hold, process->pid);
	if (held && held->instance == process->instance) {
		held->seen = true;
		return;
	}
	/* After an exec, whose end of the old one may not have been looked at yet. */
	if (held)
		let_go(hold, held);
	else if (hold->count < MOST_HELD)
		held = &hold->held[hold->count++];
	if (held)
		begin(hold, held, process);
}

static void complain(struct hold *hold, const struct held *held)
{
	if (hold->complained)
		return;
	hold->complained = true;
	fprintf(stderr,
		"cuda-trace: CUPTI does not start in process %u, maybe as its threads launch "
		"without a pause: expect nothing of its GPU until it does (started with "
		"CUPTI_USDT_PRIME=1 it is ready at once)\n",
		held->pid);
}

void hold__tidy(struct hold *hold)
{
	int kept = 0;

	for (int i = 0; hold && i < hold->count; i++) {
		struct held *held = &hold->held[i];
		bool over = monotonic__ns() - held->since > HOLD_LONGEST_NS;

		if (over && held->seen)
			complain(hold, held);
		if (over || !held->seen)
			let_go(hold, held);
		if (held->seen)
			hold->held[kept++] = *held;
	}
	for (int i = 0; i < kept; i++)
		hold->held[i].seen = false;
	if (hold)
		hold->count = kept;
}

void hold__free(struct hold *hold)
{
	for (int i = 0; hold && i < hold->count; i++)
		let_go(hold, &hold->held[i]);
	free(hold);
}
