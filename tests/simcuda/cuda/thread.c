// SPDX-License-Identifier: BSD-2-Clause
// What each thread carries: its stack of current contexts and the API call that it is in; and the
// clock that everything is measured by.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include "tests/simcuda/cuda/driver.h"

static __thread struct thread *current;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads;

uint64_t clock__now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Sleeps while it is far and spins at the end, as a synchronising driver does. */
void clock__wait_until(uint64_t time)
{
	if (time > clock__now())
		time += settings__get()->wake_ns;
	for (;;) {
		uint64_t now = clock__now();

		if (now >= time)
			return;
		if (time - now > 50000) {
			uint64_t wake = time - 20000;
			struct timespec at = {wake / 1000000000, wake % 1000000000};

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		}
	}
}

static void forget(void *pointer)
{
	struct thread *thread = pointer;

	pthread_mutex_lock(&lock);
	*thread->link = thread->next;
	if (thread->next)
		thread->next->link = thread->link;
	pthread_mutex_unlock(&lock);
	current = NULL;
	free(thread);
}

static void make_key(void)
{
	pthread_key_create(&key, forget);
}

static struct thread *thread__new(void)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		abort();
	thread->tid = syscall(SYS_gettid);
	pthread_once(&once, make_key);
	pthread_mutex_lock(&lock);
	thread->next = threads;
	thread->link = &threads;
	if (threads)
		threads->link = &thread->next;
	threads = thread;
	pthread_mutex_unlock(&lock);
	pthread_setspecific(key, thread);
	return thread;
}

struct thread *thread__current(void)
{
	if (!current)
		current = thread__new();
	return current;
}

/* The id of the API call in progress: a driver call inside a runtime call has the outer one's. */
uint32_t thread__correlation(void)
{
	struct thread *thread = thread__current();

	return thread->call ? thread->call->correlation : 0;
}
