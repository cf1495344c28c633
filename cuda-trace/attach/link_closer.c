// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread a link: each waits until no thread of any process is in a probe, all for the same, so
 * that 500 take hardly longer than one.
 */
#include "cuda-trace/attach/link_closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#define MAX_THREADS 512 /* a copy of the library has four links, and a user 512 copies */
#define STACK_BYTES 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one_ended = PTHREAD_COND_INITIALIZER;
static int threads;

static void *close_one(void *fd)
{
	close((intptr_t)fd);
	pthread_mutex_lock(&lock);
	threads--;
	pthread_cond_signal(&one_ended);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Signals are the first thread's, which they are to wake. */
static int start(int fd)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attributes, close_one, (void *)(intptr_t)fd);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

void link_closer__close(int fd)
{
	pthread_mutex_lock(&lock);
	while (threads >= MAX_THREADS)
		pthread_cond_wait(&one_ended, &lock);
	threads++;
	pthread_mutex_unlock(&lock);
	if (start(fd))
		close_one((void *)(intptr_t)fd);
}

void link_closer__wait(void)
{
	pthread_mutex_lock(&lock);
	while (threads)
		pthread_cond_wait(&one_ended, &lock);
	pthread_mutex_unlock(&lock);
}
