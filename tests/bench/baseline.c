// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI's own price, to measure ours against: an injection library that switches on what the guest
 * switches on, with callbacks that do nothing and buffers that nobody reads.
 *
 * BASELINE=launch        the driver's launch callbacks
 * BASELINE=kernel        launch callbacks and CONCURRENT_KERNEL (the default)
 * BASELINE_CUPTI=PATH    the libcupti to load; else by soname
 * BASELINE_PROOF=FILE    says there at exit how many buffers came: a baseline that measures
 *                        nothing (it happened) must not pass for a cheap CUPTI
 *
 * InitializeInjection() runs in cuInit; the callbacks on any thread of the program.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES	       (1 << 20)
#define DOMAIN_DRIVER	       1
#define KIND_CONCURRENT_KERNEL 10

/* What libcuda looks for. */
__attribute__((visibility("default"))) int InitializeInjection(void);

static int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
static int (*enable_callback)(uint32_t, void *, int, uint32_t);
static int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *),
				 void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
static int (*enable_kind)(int);

static const uint32_t launch_cbids[] = {307, 442, 652, 653, 477, 478, 480, 514, 515};

/* A free list, so that the price holds no malloc of 1 MiB (which would be mmap and page faults). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *free_buffers[64];
static int free_count;
static unsigned long buffers_seen;

static void on_call(void *context, int domain, uint32_t cbid, const void *data)
{
}

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	*buffer = free_count ? free_buffers[--free_count] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer && posix_memalign((void **)buffer, 4096, BUFFER_BYTES))
		abort(); /* a benchmark, not a guest */
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	pthread_mutex_lock(&lock);
	buffers_seen += valid > 0;
	if (free_count < 64) {
		free_buffers[free_count++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void prove(void)
{
	const char *path = getenv("BASELINE_PROOF");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu\n", buffers_seen);
	fclose(file);
}

static void *open_cupti(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};
	const char *path = getenv("BASELINE_CUPTI");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	for (size_t i = 0; !library && !path && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

int InitializeInjection(void)
{
	const char *mode = getenv("BASELINE");
	void *library = open_cupti(), *subscriber;

	if (!library || atexit(prove))
		abort();
	*(void **)&subscribe = dlsym(library, "cuptiSubscribe");
	*(void **)&enable_callback = dlsym(library, "cuptiEnableCallback");
	*(void **)&register_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
	*(void **)&enable_kind = dlsym(library, "cuptiActivityEnable");
	if (!subscribe || !enable_callback || !register_callbacks || !enable_kind)
		abort();
	if (subscribe(&subscriber, on_call, NULL))
		abort();
	for (size_t i = 0; i < sizeof(launch_cbids) / sizeof(*launch_cbids); i++)
		enable_callback(1, subscriber, DOMAIN_DRIVER, launch_cbids[i]);
	if (mode && !strcmp(mode, "launch"))
		return 1;
	if (register_callbacks(on_request, on_complete) || enable_kind(KIND_CONCURRENT_KERNEL))
		abort();
	return 1;
}
