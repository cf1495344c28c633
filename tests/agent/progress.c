// SPDX-License-Identifier: BSD-2-Clause
/* thread_progress.h from inside. Prints what is wrong; silent and 0 if nothing is. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_held, is_first, may_release, ends;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Gives the lock back while it is waited for, and never its CPU. */
static void *hold(void *argument)
{
	struct sched_param priority = {.sched_priority = 1};
	uint64_t since;

	keep_to(1);
	pthread_mutex_lock(&lock);
	atomic_store(&is_held, true);
	while (!atomic_load(&may_release))
		usleep(1000);
	atomic_store(&is_first, !pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority));
	atomic_store(&is_held, false);
	for (since = now_ns(); now_ns() - since < 150000;)
		;
	pthread_mutex_unlock(&lock);
	while (atomic_load(&is_first) && !atomic_load(&ends))
		;
	return NULL;
}

static void *want_lock(void *argument)
{
	keep_to(1);
	pthread_mutex_lock(&lock);
	while (!atomic_load(&ends))
		;
	return NULL;
}

/* A thread counts that sleeps at first, as it waits for another, and then gets no CPU. */
static void test_sleeper(void)
{
	pthread_t holder, sleeper;
	cpu_set_t before;

	sched_getaffinity(0, sizeof(before), &before);
	if (!CPU_ISSET(0, &before) || !CPU_ISSET(1, &before))
		return;
	keep_to(0);
	pthread_create(&holder, NULL, hold, NULL);
	while (!atomic_load(&is_held))
		usleep(1000);
	pthread_create(&sleeper, NULL, want_lock, NULL);
	usleep(50000);
	atomic_store(&may_release, true);
	while (atomic_load(&is_held))
		;
	if (thread_progress__wait(60) != THREADS_WAIT && atomic_load(&is_first))
		fail("a thread that was woken meanwhile, and has no CPU, has run");
	atomic_store(&ends, true);
	pthread_join(holder, NULL);
	pthread_join(sleeper, NULL);
	sched_setaffinity(0, sizeof(before), &before);
}

static _Atomic(int) stopped_thread;

static void *be_stopped(void *argument)
{
	atomic_store(&stopped_thread, syscall(SYS_gettid));
	while (!atomic_load(&ends))
		usleep(1000);
	return NULL;
}

/* Stops that thread of its parent from the moment when a byte is written to `ready` until one comes
 * from `go`. */
static void be_tracer(int thread, int ready, int go)
{
	char byte = 0;

	if (ptrace(PTRACE_SEIZE, thread, 0, 0) || ptrace(PTRACE_INTERRUPT, thread, 0, 0) ||
	    waitpid(thread, NULL, __WALL) != thread)
		_exit(2); /* not permitted */
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(1);
	_exit(0);
}

/* A thread that a tracer has stopped may be in the middle of a launch. */
static void test_traced(void)
{
	int ready[2], go[2], tracer;
	pthread_t thread;
	char byte = 0;

	atomic_store(&ends, false);
	if (pipe(ready) || pipe(go))
		return;
	pthread_create(&thread, NULL, be_stopped, NULL);
	while (!atomic_load(&stopped_thread))
		usleep(1000);
	tracer = fork();
	if (!tracer)
		be_tracer(atomic_load(&stopped_thread), ready[1], go[0]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1 && thread_progress__wait(60) != THREADS_WAIT)
		fail("a thread that a tracer has stopped has run");
	if (write(go[1], &byte, 1) != 1)
		fail("write");
	waitpid(tracer, NULL, 0);
	if (thread_progress__wait(3000) != THREADS_RAN)
		fail("a thread that its tracer has released has not run");
	atomic_store(&ends, true);
	pthread_join(thread, NULL);
}

int main(void)
{
	test_thread_progress();
	test_sleeper();
	test_traced();
	return failures != 0;
}
