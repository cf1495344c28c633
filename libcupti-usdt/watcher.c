// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread "cupti-usdt". All signals are blocked in it: they belong to the program. It wakes
 * four times a second while dormant, ten times while something is on.
 *
 * Fears of the end: 1. CUPTI hangs: the exiting thread waits for a limited time, then the process
 * goes on without us. 2. exit() in a forked child, where this thread does not exist: the caller
 * checks. 3. exit() while this thread is just switching something on: it looks at `stopping`
 * before each step, and finishes with what it has.
 */
#include "libcupti-usdt/watcher.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libcupti-usdt/clock.h"
#include "libcupti-usdt/control.h"

#define DORMANT_MS  250
#define ACTIVE_MS   100
#define STACK_BYTES (512U << 10) /* address space; CUPTI initialises itself on it */

static _Atomic(uint32_t) wakes;	   /* futex: raised to wake the thread */
static _Atomic(uint32_t) finished; /* futex: 1 when it is done */
static atomic_bool stopping, started;

static void futex_wait(_Atomic(uint32_t) *word, uint32_t value, unsigned int milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &timeout, NULL, 0);
}

static void futex_wake(_Atomic(uint32_t) *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *watch(void *unused)
{
	uint32_t seen = atomic_load(&wakes);

	while (!atomic_load(&stopping)) {
		futex_wait(&wakes, seen, control__is_busy() ? ACTIVE_MS : DORMANT_MS);
		seen = atomic_load(&wakes);
		if (atomic_load(&stopping))
			break;
		control__follow();
		if (!atomic_load(&stopping))
			control__tick();
	}
	control__finish();
	atomic_store(&finished, 1);
	futex_wake(&finished);
	return NULL;
}

static int create(size_t stack)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	if (stack)
		pthread_attr_setstacksize(&attributes, stack);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, watch, NULL);
	if (!error)
		pthread_setname_np(thread, "cupti-usdt");
	pthread_attr_destroy(&attributes);
	return error;
}

int watcher__start(void)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = create(STACK_BYTES);
	/* A program with much thread-local storage has it on each stack. */
	if (error == EINVAL)
		error = create(0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	atomic_store(&started, !error);
	return -error;
}

void watcher__hurry(void)
{
	int saved = errno;

	atomic_fetch_add(&wakes, 1);
	futex_wake(&wakes);
	errno = saved;
}

void watcher__stop(unsigned int milliseconds)
{
	uint64_t now = clock__now(), until = now + milliseconds * 1000000ULL;

	if (!atomic_load(&started))
		return;
	atomic_store(&stopping, true);
	watcher__hurry();
	while (!atomic_load(&finished) && (now = clock__now()) < until)
		futex_wait(&finished, 0, (until - now) / 1000000 + 1);
}
