// SPDX-License-Identifier: BSD-2-Clause
/* See threads.h. */
#include "libcupti-usdt/base/threads.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libcupti-usdt/base/clock.h"

#define STACK_BYTES (512U << 10) /* address space; CUPTI initialises itself on it */
#define TURN_NS	    20000000ULL

void futex__wait(_Atomic(uint32_t) *word, uint32_t value, uint32_t milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value,
		milliseconds == FOREVER ? NULL : &timeout, NULL, 0);
}

void thread__rest(uint32_t microseconds)
{
	struct timespec timeout = {microseconds / 1000000, microseconds % 1000000 * 1000L};
	_Atomic(uint32_t) never = 0;

	syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
}

void futex__wake(_Atomic(uint32_t) *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/*
 * The time is counted in short turns: a machine that stood still for a second (a paused virtual
 * one, a host under load) has not given the other thread a second.
 */
void futex__wait_until_set(_Atomic(uint32_t) *word, unsigned int milliseconds)
{
	uint64_t before = clock__now(), left = milliseconds * 1000000ULL;

	while (!atomic_load(word) && left) {
		uint64_t now, turn = left < TURN_NS ? left : TURN_NS;

		futex__wait(word, 0, turn / 1000000 + 1);
		now = clock__now();
		left -= now - before < turn ? now - before : turn;
		before = now;
	}
}

static int create(const char *name, void *(*run)(void *), size_t stack)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	if (stack)
		pthread_attr_setstacksize(&attributes, stack);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, run, NULL);
	if (!error)
		pthread_setname_np(thread, name);
	pthread_attr_destroy(&attributes);
	return error;
}

int thread__start(const char *name, void *(*run)(void *))
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = create(name, run, STACK_BYTES);
	/* A program with much thread-local storage has it on each stack. */
	if (error == EINVAL)
		error = create(name, run, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}
