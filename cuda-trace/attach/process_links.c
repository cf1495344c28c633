// SPDX-License-Identifier: BSD-2-Clause
/*
 * A link of one process raises the semaphores in that process alone, follows it through an exec,
 * and costs others nothing. What it cannot do, and a link of all processes takes over for that
 * file: more than MAX_PROCESSES; processes whose first thread has ended, by which the kernel knows
 * the memory that a link is about. Both may be there at a time: the map `linked` says which of them
 * counts for a process, so that nothing is reported twice (bpf/arguments.h).
 *
 * A pid used again means another process: its entry in `linked` went with the one before, and
 * entries here are worth something only while their number is in there. The same goes for links:
 * one that lost its process to an exec by another thread fires on if somebody else puts breakpoints
 * there.
 */
#include "cuda-trace/attach/process_links.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bpf/event.h"
#include "cuda-trace/attach/attachments.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/attach/probe_link.h"
#include "cuda-trace/attach/sample_switches.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/proc/process_stat.h"

#define MAX_PROCESSES 64

struct file {
	struct file *next;
	char *path;	/* of an open file: no two have the same */
	bool is_old;	/* it does not report its start */
	bool everybody; /* all processes that map it are listened to, unless they have links */
};

struct agent {
	uint32_t pid;
	uint64_t number; /* as in the map `linked` */
	struct file *file;
	char *path;
	uint64_t ready; /* ns, when it was listened to, if it reported its start; 0 = all is said */
};

struct agents {
	struct attachments *attachments;
	struct switches *switches;
	int linked;
	bool verbose;
	struct file *files;
	int file_count;
	struct agent agents[MAX_PROCESSES];
	int count;
	uint64_t numbers; /* used so far */
	bool linked_one;  /* since process_links__expect() */
};

struct agents *process_links__new(struct attachments *attachments, struct switches *switches,
				  int linked, bool verbose)
{
	struct agents *agents = calloc(1, sizeof(*agents));

	if (!agents)
		return NULL;
	agents->attachments = attachments;
	agents->switches = switches;
	agents->linked = linked;
	agents->verbose = verbose;
	return agents;
}

void process_links__free(struct agents *all)
{
	struct file *next;

	for (int i = 0; all && i < all->count; i++)
		free(all->agents[i].path);
	for (struct file *file = all ? all->files : NULL; file; file = next) {
		next = file->next;
		free(file->path);
		free(file);
	}
	free(all);
}

int process_links__files(const struct agents *all)
{
	return all->file_count;
}

static struct file *find_file(struct agents *all, const char *path)
{
	for (struct file *file = all->files; file; file = file->next)
		if (!strcmp(file->path, path))
			return file;
	return NULL;
}

/* Switches before batches, or these would begin with another cycle. 0 or -errno. */
static int listen_at(struct agents *agents, const struct probe_place *place, uint64_t number)
{
	if (agents->switches &&
	    sample_switches__add(agents->switches, place->path, place->pid, number) == -ENOENT)
		fprintf(stderr, "cuda-trace: an older injection library cannot sample: there is no "
				"GPU data from its processes\n");
	return attachments__add(agents->attachments, place, number);
}

static void listen_to_everybody(struct agents *agents, struct file *file, const char *path,
				const char *why)
{
	const struct probe_place place = {.path = path, .whose = PROBE_OF_OTHERS};
	char shown[256];

	if (file->everybody)
		return;
	file->everybody = !listen_at(agents, &place, 0);
	if (agents->verbose)
		fprintf(stderr, "cuda-trace: %s: attached in every process that maps it: %s\n",
			foreign_file__show(path, shown, sizeof(shown)), why);
}

void process_links__add_file(struct agents *agents, const char *path)
{
	struct file *file = calloc(1, sizeof(*file));
	char shown[256];
	int err;

	if (file)
		file->path = strdup(path);
	if (!file || !file->path) {
		free(file);
		return;
	}
	file->next = agents->files;
	agents->files = file;
	agents->file_count++;
	err = attachments__add_starts(agents->attachments, path);
	file->is_old = err == -ENOENT;
	if (err && !file->is_old)
		listen_to_everybody(agents, file, path, strerror(-err));
	else if (agents->verbose)
		fprintf(stderr, "cuda-trace: watching %s in the selected processes\n",
			foreign_file__show(path, shown, sizeof(shown)));
}

/* Links of single processes may be left where these have exec'd a moment ago. */
void process_links__drop_file(struct agents *all, const char *path)
{
	struct file **at = &all->files, *file;
	struct agent *of = all->agents;
	int kept = 0;

	while (*at && strcmp((*at)->path, path))
		at = &(*at)->next;
	file = *at;
	if (!file)
		return;
	for (int i = 0; i < all->count; i++) {
		if (of[i].file != file)
			of[kept++] = of[i];
		else
			free(of[i].path);
	}
	all->count = kept;
	*at = file->next;
	all->file_count--;
	free(file->path);
	free(file);
	if (all->switches)
		sample_switches__drop_file(all->switches, path);
	attachments__drop_file(all->attachments, path);
}

static uint64_t number_of(const struct agents *agents, uint32_t pid)
{
	uint64_t number = 0;

	return bpf_map_lookup_elem(agents->linked, &pid, &number) ? 0 : number;
}

static bool is_known(const struct agents *agents, const struct file *file, uint64_t number)
{
	for (int i = 0; i < agents->count; i++)
		if (agents->agents[i].number == number && agents->agents[i].file == file)
			return true;
	return false;
}

/* `linked` first: what comes before is said by nobody else. 0 or -errno. */
static int link_process(struct agents *agents, struct file *file, uint32_t pid, uint64_t number,
			const char *path)
{
	struct probe_place place = {.path = path, .pid = pid};
	bool is_new = !number;
	int err;

	if (is_new) {
		number = ++agents->numbers;
		if (bpf_map_update_elem(agents->linked, &pid, &number, BPF_ANY))
			return -errno;
	}
	place.whose = PROBE_OF_LINKED | PROBE_LINK(number);
	err = listen_at(agents, &place, number);
	if (err) {
		if (is_new)
			bpf_map_delete_elem(agents->linked, &pid);
		return err;
	}
	agents->agents[agents->count++] = (struct agent){pid, number, file, strdup(path), 0};
	agents->linked_one = true;
	if (file->is_old)
		fprintf(stderr,
			"cuda-trace: process %u has an older library, which does not report its "
			"start: launches before it was found are missing\n",
			pid);
	return 0;
}

/* Where all processes are listened to, those without links are, too. */
void process_links__add_process(struct agents *agents, uint32_t pid, const char *path)
{
	uint64_t number = number_of(agents, pid);
	struct file *file = find_file(agents, path);
	int err;

	if (!file || (file->everybody && !number) || (number && is_known(agents, file, number)))
		return;
	if (agents->count >= MAX_PROCESSES)
		process_links__prune(agents);
	if (agents->count >= MAX_PROCESSES) {
		listen_to_everybody(agents, file, path,
				    "too many processes for links of their own");
		return;
	}
	if (process_stat__state(pid) == 'Z') {
		listen_to_everybody(agents, file, path, "the first thread of a process has ended");
		return;
	}
	err = link_process(agents, file, pid, number, path);
	/* A process that has gone meanwhile says nothing of the kernel. */
	if (err && err != -ESRCH)
		listen_to_everybody(agents, file, path, strerror(-err));
}

void process_links__expect(struct agents *agents)
{
	agents->linked_one = false;
}

bool process_links__reach(const struct agents *agents, uint32_t pid)
{
	for (const struct file *file = agents->files; file; file = file->next)
		if (file->everybody)
			return true;
	return number_of(agents, pid);
}

bool process_links__note_time(struct agents *agents, const struct event_start *event, bool runs)
{
	uint64_t late;
	bool is_late;

	/* It was attached before it started, or found by a scan of all processes. */
	if (!agents->linked_one || !agents->count) {
		if (agents->verbose)
			fprintf(stderr,
				"cuda-trace: process %u was attached before it reported its "
				"start\n",
				event->pid);
		return false;
	}
	late = monotonic__ns() - event->time;
	is_late = late > event->milliseconds * 1000000ull;
	if (is_late && !runs)
		fprintf(stderr,
			"cuda-trace: process %u was attached only %llu ms after its start: earlier "
			"launches are missing\n",
			event->pid, (unsigned long long)late / 1000000);
	else if (!is_late)
		agents->agents[agents->count - 1].ready = attachments__ready(agents->attachments);
	if (agents->verbose && !is_late)
		fprintf(stderr, "cuda-trace: process %u was attached %.1f ms after its start\n",
			event->pid, late / 1e6);
	return is_late;
}

bool process_links__note_begin(struct agents *agents, uint32_t pid,
			       const struct cuda_status *status)
{
	bool is_late = false;

	for (int i = 0; agents && i < agents->count; i++) {
		struct agent *agent = &agents->agents[i];

		if (agent->pid != pid || !agent->ready || !status->began)
			continue;
		if (status->began < agent->ready) {
			is_late = true;
			fprintf(stderr,
				"cuda-trace: process %u was attached %.1f ms after another tool "
				"had ended its wait: launches in between are missing\n",
				pid, (agent->ready - status->began) / 1e6);
		}
		agent->ready = 0;
	}
	return is_late;
}

/* Another thread that execs ends the first one, too, and becomes it: that takes a moment. */
static bool has_lost_first(uint32_t pid)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	for (int i = 0; i < 3; i++) {
		if (process_stat__state(pid) != 'Z')
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* Both links are there for a moment, and the map says which one counts. */
void process_links__lost_first(struct agents *agents, uint32_t pid)
{
	uint64_t number = number_of(agents, pid);

	if (!number || !has_lost_first(pid) || number_of(agents, pid) != number)
		return;
	for (int i = 0; i < agents->count; i++)
		if (agents->agents[i].number == number && agents->agents[i].path)
			listen_to_everybody(agents, agents->agents[i].file, agents->agents[i].path,
					    "the first thread of a process has ended");
	bpf_map_delete_elem(agents->linked, &pid);
	process_links__prune(agents);
}

void process_links__prune(struct agents *agents)
{
	int kept = 0;

	for (int i = 0; i < agents->count; i++) {
		struct agent *agent = &agents->agents[i];

		if (number_of(agents, agent->pid) == agent->number) {
			agents->agents[kept++] = *agent;
			continue;
		}
		attachments__drop_process(agents->attachments, agent->number);
		if (agents->switches)
			sample_switches__drop_process(agents->switches, agent->number);
		free(agent->path);
	}
	agents->count = kept;
}
