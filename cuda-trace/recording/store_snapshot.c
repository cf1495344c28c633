// SPDX-License-Identifier: BSD-2-Clause
/* One at a time, so that a flood of signals makes no flood of processes. */
#include "cuda-trace/recording/store_snapshot.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;

/* In a group of its own: the Ctrl-C that ends a recording is not for it. */
static int spawn_apart(pid_t *pid, char *argv[])
{
	posix_spawnattr_t attributes;
	int err = posix_spawnattr_init(&attributes);

	if (err)
		return -err;
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	err = posix_spawn(pid, "/proc/self/exe", NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

int snapshot__start(pid_t *running, const char *spool, const char *path, uint64_t keep)
{
	char last[32];
	char *argv[] = {"cuda-trace", "report", "--import", (char *)spool, "--output",
			(char *)path, "--last", last,	    NULL};

	snprintf(last, sizeof(last), "%lluns", (unsigned long long)keep);
	return spawn_apart(running, argv);
}

void snapshot__reap(pid_t *running, bool wait)
{
	if (*running && waitpid(*running, NULL, wait ? 0 : WNOHANG) == *running)
		*running = 0;
}
