// SPDX-License-Identifier: BSD-2-Clause
/*
 * A cache of containers by id, and the thread that fills it. The thread is started with the first
 * container and ends with the tool; a container that takes long delays the names of others, and
 * nothing else.
 */
#include "cuda-trace/origin/origin.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/origin/engine_services.h"
#include "cuda-trace/origin/origin_path.h"

#define CONTAINERS     1024
#define FIRST_RETRY_MS 2000
#define LAST_RETRY_MS  300000

struct entry {
	struct origin_container container;
	enum origin_state state;
	uint64_t used;	   /* the clock of uses when it was last wanted; 0 = the entry is free */
	uint64_t retry_at; /* ORIGIN_UNKNOWN: monotonic ms */
	uint32_t retry_ms;
	struct origin origin; /* ORIGIN_KNOWN */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wanted, answered;
	bool runs, full;
	uint64_t uses;
	unsigned int pending;
	struct entry entries[CONTAINERS];
} cache = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wanted = PTHREAD_COND_INITIALIZER,
	.answered = PTHREAD_COND_INITIALIZER,
};

/* The one that has waited longest. */
static struct entry *next_pending(void)
{
	struct entry *next = NULL;

	for (int i = 0; i < CONTAINERS; i++) {
		struct entry *entry = &cache.entries[i];

		if (entry->used && entry->state == ORIGIN_PENDING &&
		    (!next || entry->used < next->used))
			next = entry;
	}
	return next;
}

static void settle(struct entry *entry, int err, const struct origin *found)
{
	cache.pending--;
	if (!err) {
		entry->origin = *found;
		entry->state = ORIGIN_KNOWN;
		return;
	}
	entry->retry_ms = entry->retry_ms ? 2 * entry->retry_ms : FIRST_RETRY_MS;
	if (entry->retry_ms > LAST_RETRY_MS)
		entry->retry_ms = LAST_RETRY_MS;
	entry->retry_at = monotonic__ms() + entry->retry_ms;
	entry->state = ORIGIN_UNKNOWN;
}

/* Pending entries are not given to other containers meanwhile. */
static void *run(void *context)
{
	pthread_mutex_lock(&cache.lock);
	for (;;) {
		struct entry *entry = next_pending();
		struct origin_container container;
		struct origin found;
		int err;

		if (!entry) {
			pthread_cond_broadcast(&cache.answered);
			pthread_cond_wait(&cache.wanted, &cache.lock);
			continue;
		}
		container = entry->container;
		pthread_mutex_unlock(&cache.lock);
		err = engine_services__find(&container, &found);
		pthread_mutex_lock(&cache.lock);
		settle(entry, err, &found);
	}
	return NULL;
}

/* Signals are the first thread's. */
static bool start(void)
{
	sigset_t all, before;
	pthread_t thread;

	if (cache.runs)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	cache.runs = !pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (cache.runs)
		pthread_detach(thread);
	return cache.runs;
}

/* This container's; else a free one, or the one that was wanted longest ago. NULL: all are
 * pending. */
static struct entry *entry_of(const struct origin_container *container)
{
	struct entry *oldest = NULL;

	for (int i = 0; i < CONTAINERS; i++) {
		struct entry *entry = &cache.entries[i];

		if (entry->used && !strcmp(entry->container.id, container->id))
			return entry;
		if (entry->used && entry->state == ORIGIN_PENDING)
			continue;
		if (!oldest || entry->used < oldest->used)
			oldest = entry;
	}
	if (!oldest)
		return NULL;
	*oldest = (struct entry){.container = *container, .state = ORIGIN_UNKNOWN};
	return oldest;
}

static void request(struct entry *entry)
{
	if (entry->state != ORIGIN_UNKNOWN || monotonic__ms() < entry->retry_at || !start())
		return;
	entry->state = ORIGIN_PENDING;
	cache.pending++;
	pthread_cond_signal(&cache.wanted);
}

static enum origin_state find_container(const struct origin_container *container,
					struct origin *origin)
{
	enum origin_state state = ORIGIN_UNKNOWN;
	struct entry *entry;

	pthread_mutex_lock(&cache.lock);
	entry = entry_of(container);
	if (entry) {
		/* Before its request: the order of those that wait. */
		entry->used = ++cache.uses;
		request(entry);
		state = entry->state;
		if (state == ORIGIN_KNOWN)
			*origin = entry->origin;
	} else if (!cache.full) {
		cache.full = true;
		fprintf(stderr,
			"cuda-trace: more than %d containers wait for their names: some get none\n",
			CONTAINERS);
	}
	pthread_mutex_unlock(&cache.lock);
	return state;
}

enum origin_state origin__find(uint32_t pid, const char *path, struct origin *origin)
{
	struct origin_container container;

	memset(origin, 0, sizeof(*origin));
	if (origin_path__container(path, &container))
		return find_container(&container, origin);
	origin_path__parse(path, origin);
	if (pid && !*origin->slurm_job)
		origin_path__read_slurm(pid, path, origin);
	return ORIGIN_KNOWN;
}

void origin__wait(unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000l;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&cache.lock);
	while (cache.pending && pthread_cond_clockwait(&cache.answered, &cache.lock,
						       CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&cache.lock);
}
