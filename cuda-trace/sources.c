// SPDX-License-Identifier: BSD-2-Clause
/*
 * Guests tell of themselves; a process that maps libcuda and has not told anything is seen by
 * nobody. The same thread as the session's.
 */
#include "cuda-trace/sources.h"

#include <dirent.h>
#include <stdlib.h>
#include <time.h>
#include "cuda-trace/inspect.h"
#include "cuda-trace/live.h"

#define LOOK_SECONDS 30

struct sources {
	unsigned int cuda_without_guest;
	time_t next_look;
};

struct sources *sources__new(void)
{
	return calloc(1, sizeof(struct sources));
}

static unsigned int count_unguided(void)
{
	DIR *proc = opendir("/proc");
	struct inspection seen;
	unsigned int count = 0;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (*end || !pid || inspect__process(pid, &seen))
			continue;
		count += seen.cuda && !seen.guest;
	}
	if (proc)
		closedir(proc);
	return count;
}

static void count_guest(void *context, struct process *process)
{
	unsigned int *counts = context;

	if (process->status.state == CUDA_STATE_INERT)
		counts[LIVE_SOURCE_NONE]++;
	else
		counts[LIVE_SOURCE_CUPTI]++;
}

void sources__count(struct sources *sources, struct session *session, unsigned int *counts)
{
	time_t now = time(NULL);

	if (now >= sources->next_look) {
		sources->cuda_without_guest = count_unguided();
		sources->next_look = now + LOOK_SECONDS;
	}
	for (int source = 0; source < LIVE_SOURCE_COUNT; source++)
		counts[source] = 0;
	counts[LIVE_SOURCE_NONE] = sources->cuda_without_guest;
	session__each_process(session, count_guest, counts);
}

void sources__free(struct sources *sources)
{
	free(sources);
}
