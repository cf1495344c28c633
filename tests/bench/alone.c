// SPDX-License-Identifier: BSD-2-Clause
#include "tests/bench/alone.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)
#define BUFFERS	     64

static struct cupti cupti;
static void *subscriber;
static const char *mode_on = "";

/* MEMCPY, MEMCPY2, MEMSET, MEMORY2, MEMORY_POOL, SYNCHRONIZATION */
static const int other_kinds[] = {1, 22, 2, 49, 50, 38};
static const uint32_t launch_cbids[] = {307, 442, 652, 653, 477, 478, 480, 514, 515};

/* A free list, so that the price holds no malloc of 1 MiB (which would be mmap and page faults).
 * What is not of it came from another client of the process, who requested it: it is left alone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *all[BUFFERS], *unused[BUFFERS];
static int all_count, unused_count;
static unsigned long buffers_seen;

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: error %d\n", what, result);
	abort();
}

static void on_call(void *context, int domain, uint32_t cbid, const void *data)
{
}

void alone__requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	*buffer = unused_count ? unused[--unused_count] : NULL;
	if (!*buffer) {
		must(posix_memalign((void **)buffer, 4096, BUFFER_BYTES), "posix_memalign");
		if (all_count < BUFFERS)
			all[all_count++] = *buffer;
	}
	pthread_mutex_unlock(&lock);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

void alone__completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	pthread_mutex_lock(&lock);
	buffers_seen += valid > 0;
	for (int i = 0; i < all_count; i++)
		if (all[i] == buffer)
			unused[unused_count++] = buffer;
	pthread_mutex_unlock(&lock);
}

static void *open_library(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};
	const char *path = getenv("BASELINE_CUPTI");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	for (int load = 0; load < 2 && !library && !path; load++)
		for (size_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
			library =
				dlopen(names[i], RTLD_NOW | RTLD_LOCAL | (load ? 0 : RTLD_NOLOAD));
	must(!library, "libcupti");
	return library;
}

const struct cupti *alone__open(void)
{
	void *library;

	if (cupti.Subscribe)
		return &cupti;
	library = open_library();
#define FIND(required, name, parameters)                       \
	*(void **)&cupti.name = dlsym(library, "cupti" #name); \
	must(required && !cupti.name, "a function of libcupti");
	CUPTI_FUNCTIONS(FIND)
#undef FIND
	return &cupti;
}

static void switch_kinds(bool on)
{
	int (*change)(int) = on ? cupti.ActivityEnable : cupti.ActivityDisable;

	if (!strcmp(mode_on, "launch"))
		return;
	must(change(CUPTI_KIND_CONCURRENT_KERNEL), "CONCURRENT_KERNEL");
	for (size_t i = 0; i < sizeof(other_kinds) / sizeof(*other_kinds); i++)
		if (!strcmp(mode_on, "default"))
			change(other_kinds[i]);
}

bool alone__is_launch(int domain, uint32_t cbid)
{
	for (size_t i = 0; i < sizeof(launch_cbids) / sizeof(*launch_cbids); i++)
		if (domain == CUPTI_DOMAIN_DRIVER && cbid == launch_cbids[i])
			return true;
	return false;
}

static void switch_launches(bool on)
{
	for (size_t i = 0; i < sizeof(launch_cbids) / sizeof(*launch_cbids); i++)
		cupti.EnableCallback(on, subscriber, CUPTI_DOMAIN_DRIVER, launch_cbids[i]);
}

/* The agent that a tool has left leaves CUPTI within 0.3 s. */
static int subscribe(cupti_callback call)
{
	int result = CUPTI_MULTIPLE_SUBSCRIBERS;

	for (int i = 0; i < 100 && result == CUPTI_MULTIPLE_SUBSCRIBERS; i++) {
		result = cupti.Subscribe(&subscriber, call, NULL);
		if (result)
			usleep(50000);
	}
	return result;
}

void alone__on(const char *mode, const struct alone_callbacks *callbacks)
{
	static const struct alone_callbacks nothing = {on_call, alone__requested, alone__completed};

	callbacks = callbacks ? callbacks : &nothing;
	alone__open();
	mode_on = mode;
	must(subscribe(callbacks->call), "cuptiSubscribe");
	must(cupti.ActivityRegisterCallbacks(callbacks->requested, callbacks->completed),
	     "cuptiActivityRegisterCallbacks");
	switch_launches(true);
	switch_kinds(true);
}

void alone__off(void)
{
	switch_kinds(false);
	must(cupti.ActivityFlushAll(0), "cuptiActivityFlushAll");
	switch_launches(false);
	must(cupti.Unsubscribe(subscriber), "cuptiUnsubscribe");
}

bool alone__owns(const uint8_t *buffer)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < all_count && !found; i++)
		found = all[i] == buffer;
	pthread_mutex_unlock(&lock);
	return found;
}

unsigned long alone__buffers(void)
{
	unsigned long seen;

	pthread_mutex_lock(&lock);
	seen = buffers_seen;
	pthread_mutex_unlock(&lock);
	return seen;
}
