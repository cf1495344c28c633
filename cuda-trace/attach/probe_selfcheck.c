// SPDX-License-Identifier: BSD-2-Clause
/*
 * Proof that a probe in another process reaches this tool: kernels and containers exist in which
 * everything attaches and nothing ever fires. Called once by session__attach().
 */
#include "cuda-trace/attach/probe_selfcheck.h"

#include <errno.h>
#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sys/sdt.h>

/* One site only: a second copy of it would fire a second time. */
static __attribute__((noinline)) void hit(unsigned int tool)
{
	STAP_PROBE1(cuda_trace, selftest, tool);
}

int probe_selfcheck__fire(void)
{
	unsigned int tool = getpid();
	pid_t child = fork();
	int status;

	if (child < 0)
		return -errno;
	if (!child) {
		hit(tool);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static void *hit_here(void *unused)
{
	hit(getpid());
	return NULL;
}

int probe_selfcheck__fire_in_thread(void)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, hit_here, NULL);

	return err ? -err : -pthread_join(thread, NULL);
}

/* The least of some rounds: whatever else runs only ever adds. */
uint64_t probe_selfcheck__measure(void)
{
	enum { ROUNDS = 10, HITS = 100 };
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		struct timespec from, to;
		uint64_t ns;

		clock_gettime(CLOCK_MONOTONIC, &from);
		/* Nobody's number: the program looks no further. */
		for (int i = 0; i < HITS; i++)
			hit(0);
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns = (to.tv_sec - from.tv_sec) * 1000000000ull + to.tv_nsec - from.tv_nsec;
		if (ns / HITS < least)
			least = ns / HITS;
	}
	return least;
}
