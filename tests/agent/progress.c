// SPDX-License-Identifier: BSD-2-Clause
/* thread_progress.h from inside. Prints what is wrong; silent and 0 if nothing is. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "libcupti-usdt/base/thread_progress.h"

static int failures;

static void fail(const char *what)
{
	failures++;
	puts(what);
}

struct spinner {
	pthread_t thread;
	int cpu;
	bool first; /* before all others on its CPU */
	atomic_bool runs, ends;
};

static void keep_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *spin(void *argument)
{
	struct spinner *spinner = argument;
	struct sched_param priority = {.sched_priority = 1};

	keep_to(spinner->cpu);
	if (spinner->first && pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority))
		atomic_store(&spinner->ends, true); /* not permitted */
	atomic_store(&spinner->runs, true);
	while (!atomic_load(&spinner->ends))
		;
	return NULL;
}

static void start_spinner(struct spinner *spinner)
{
	pthread_create(&spinner->thread, NULL, spin, spinner);
	while (!atomic_load(&spinner->runs))
		sched_yield();
}

/* A thread whose CPU is taken away is waited for; one that gets it back, or sleeps, is not. */
static void test_thread_progress(void)
{
	struct spinner waits = {0}, first = {.first = true};
	cpu_set_t before;

	sched_getaffinity(0, sizeof(before), &before);
	if (!CPU_ISSET(0, &before) || !CPU_ISSET(1, &before))
		return;
	keep_to(1);
	if (thread_progress__wait(3000) != THREADS_RAN)
		fail("nobody wants a CPU");
	start_spinner(&waits);
	if (thread_progress__wait(3000) != THREADS_RAN)
		fail("a thread that runs has not run");
	start_spinner(&first);
	if (!atomic_load(&first.ends) && thread_progress__wait(60) != THREADS_WAIT)
		fail("a thread without a CPU has run");
	atomic_store(&first.ends, true);
	if (thread_progress__wait(3000) != THREADS_RAN)
		fail("a thread that has its CPU back has not run");
	atomic_store(&waits.ends, true);
	pthread_join(first.thread, NULL);
	pthread_join(waits.thread, NULL);
	sched_setaffinity(0, sizeof(before), &before);
}

int main(void)
{
	test_thread_progress();
	return failures != 0;
}
