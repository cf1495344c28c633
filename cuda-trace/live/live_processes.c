// SPDX-License-Identifier: BSD-2-Clause
/*
 * Agents report themselves, the driver source has a map of its processes; a process that maps
 * libcuda and is in neither is seen by nobody: it has no agent, or one that was switched off. The
 * same thread as the session's.
 */
#include "cuda-trace/live/live_processes.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/live/live.h"

#define LOOK_SECONDS   30
#define MAX_CANDIDATES 4096

struct candidate {
	uint32_t pid;
	bool seen; /* by now, through one source or the other */
};

struct sources {
	struct candidate candidates[MAX_CANDIDATES]; /* mapped libcuda; ordered by pid */
	unsigned int count;
	unsigned int refused; /* at the last look */
	time_t next_look;
	struct session_options options;
};

/* What a count goes through. */
struct count {
	struct sources *sources;
	int driver_pids;
	unsigned int *counts;
};

struct sources *live_processes__new(const struct session_options *options)
{
	struct sources *sources = calloc(1, sizeof(*sources));

	if (sources)
		sources->options = *options;
	return sources;
}

static bool is_meant(const struct sources *sources, const struct session *session, uint32_t pid,
		     const struct inspection *seen)
{
	const struct session_options *options = &sources->options;
	struct stream_settings filter;
	uint8_t one;

	return !options->cgroup && (!options->comm || !strcmp(options->comm, seen->comm)) &&
	       (options->uid < 0 || options->uid == seen->uid) &&
	       (!options->pid ||
		!bpf_map_lookup_elem(session__filter(session, &filter), &pid, &one));
}

static int by_pid(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static void look_for_candidates(struct sources *sources, const struct session *session)
{
	DIR *proc = opendir("/proc");
	struct inspection seen;
	struct dirent *entry;

	sources->count = sources->refused = 0;
	while (proc && sources->count < MAX_CANDIDATES && (entry = readdir(proc))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (*end || !pid || process_maps__process(pid, &seen) ||
		    !is_meant(sources, session, pid, &seen))
			continue;
		sources->refused += seen.refused;
		if (!seen.cuda)
			continue;
		sources->candidates[sources->count++].pid = pid;
	}
	if (proc)
		closedir(proc);
	qsort(sources->candidates, sources->count, sizeof(sources->candidates[0]), by_pid);
}

static void note_seen(struct sources *sources, uint32_t pid)
{
	const struct candidate wanted = {.pid = pid};
	struct candidate *found =
		bsearch(&wanted, sources->candidates, sources->count, sizeof(wanted), by_pid);

	if (found)
		found->seen = true;
}

static void count_agent(void *context, struct process *process)
{
	struct count *count = context;
	uint64_t number;

	note_seen(count->sources, process->pid);
	/* Seen by nobody, or counted with the driver source. */
	if (process->status.state != CUDA_STATE_INERT &&
	    process->status.state != CUDA_STATE_YIELDED)
		count->counts[LIVE_SOURCE_CUPTI]++;
	else if (bpf_map_lookup_elem(count->driver_pids, &process->pid, &number))
		count->counts[LIVE_SOURCE_NONE]++;
}

static void count_driver(const struct count *count)
{
	uint32_t pid, *before = NULL;

	while (!bpf_map_get_next_key(count->driver_pids, before, &pid)) {
		before = &pid;
		note_seen(count->sources, pid);
		count->counts[LIVE_SOURCE_DRIVER]++;
	}
}

void live_processes__count(struct sources *sources, struct session *session, unsigned int *counts,
			   unsigned int *refused)
{
	struct count count = {sources, session__driver_pids(session), counts};
	time_t now = time(NULL);

	if (now >= sources->next_look) {
		look_for_candidates(sources, session);
		sources->next_look = now + LOOK_SECONDS;
	}
	*refused = sources->refused;
	for (unsigned int i = 0; i < sources->count; i++)
		sources->candidates[i].seen = false;
	for (int source = 0; source < LIVE_SOURCE_COUNT; source++)
		counts[source] = 0;
	session__each_process(session, count_agent, &count);
	count_driver(&count);
	for (unsigned int i = 0; i < sources->count; i++)
		if (!sources->candidates[i].seen &&
		    (!kill(sources->candidates[i].pid, 0) || errno != ESRCH))
			counts[LIVE_SOURCE_NONE]++;
}

void live_processes__free(struct sources *sources)
{
	free(sources);
}
