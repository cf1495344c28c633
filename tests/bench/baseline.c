// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI's own price, to measure ours against: an injection library that switches on what the agent
 * switches on, with callbacks that do nothing and buffers that nobody reads.
 *
 * BASELINE=launch        the driver's launch callbacks
 * BASELINE=kernel        launch callbacks and CONCURRENT_KERNEL (the default)
 * BASELINE=default       those, and the kinds that stat asks for by default: copies, memory, waits
 * BASELINE_EXTRAS=...    what the agent does beyond that, to find out what costs how much; letters:
 *                        s  buffers of 256 KiB instead of 1 MiB
 *                        f  cuptiActivityFlushAll() every 25 ms on a thread of its own
 *                        d  decodes records on CUPTI's thread: walks them, copies 80 bytes of each
 *                        h  host records: the counter at enter and exit, 80 bytes into a ring
 *                        r  another thread goes over those rings every millisecond
 * BASELINE_CUPTI=PATH    the libcupti to load; else by soname
 * BASELINE_PROOF=FILE    says there at exit how many buffers came: a baseline that measures
 *                        nothing (it happened) must not pass for a cheap CUPTI
 *
 * InitializeInjection() runs in cuInit; the callbacks on any thread of the program.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/alone.h"

#define BUFFER_BYTES (1 << 20)
#define SMALL_BYTES  (256 << 10)
#define RECORD_BYTES 80
#define RING_SLOTS   512
#define RINGS	     64

/* What libcuda looks for. */
__attribute__((visibility("default"))) int InitializeInjection(void);

static const struct cupti *cupti;
static const char *extras = "";
static bool host_records;

/* What the agent's callbacks write, and its thread reads. */
struct ring {
	volatile uint32_t head;
	uint8_t slots[RING_SLOTS][RECORD_BYTES];
};
static struct ring rings[RINGS];
static unsigned int rings_taken;
static __thread struct ring *ring;

/* A free list, so that the price holds no malloc of 1 MiB (which would be mmap and page faults). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *free_buffers[64];
static int free_count;
static unsigned long buffers_seen;

static uint64_t stamp(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
#endif
}

static void write_record(const struct cupti_callback_data *data)
{
	uint64_t record[RECORD_BYTES / 8] = {*data->correlation_data, stamp(), data->correlation};

	if (!ring)
		ring = &rings[__atomic_fetch_add(&rings_taken, 1, __ATOMIC_RELAXED) % RINGS];
	memcpy(ring->slots[ring->head % RING_SLOTS], record, sizeof(record));
	__atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
}

static void on_call(void *context, int domain, uint32_t cbid, const void *data)
{
	const struct cupti_callback_data *call = data;

	if (!host_records)
		return;
	if (call->site == CUPTI_SITE_ENTER)
		*call->correlation_data = stamp();
	else
		write_record(call);
}

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	*buffer = free_count ? free_buffers[--free_count] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer && posix_memalign((void **)buffer, 4096, BUFFER_BYTES))
		abort(); /* a benchmark, not an agent */
	*size = strchr(extras, 's') ? SMALL_BYTES : BUFFER_BYTES;
	*max_records = 0;
}

static void decode(uint8_t *buffer, size_t valid)
{
	static uint8_t copies[RING_SLOTS][RECORD_BYTES];
	void *record = NULL;

	for (unsigned int i = 0; !cupti->ActivityGetNextRecord(buffer, valid, &record); i++)
		memcpy(copies[i % RING_SLOTS], record, RECORD_BYTES);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	if (strchr(extras, 'd'))
		decode(buffer, valid);
	pthread_mutex_lock(&lock);
	buffers_seen += valid > 0;
	if (free_count < 64) {
		free_buffers[free_count++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void *flush(void *unused)
{
	const struct timespec pause = {.tv_nsec = 25000000};

	while (!nanosleep(&pause, NULL))
		cupti->ActivityFlushAll(0);
	return unused;
}

/* As the agent's thread: reads each record, and writes times where the counter was. */
static void *read_rings(void *unused)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint32_t tails[RINGS] = {0};

	while (!nanosleep(&pause, NULL))
		for (unsigned int i = 0; i < RINGS; i++)
			for (; tails[i] != __atomic_load_n(&rings[i].head, __ATOMIC_ACQUIRE);
			     tails[i]++)
				*(uint64_t *)rings[i].slots[tails[i] % RING_SLOTS] += 1;
	return unused;
}

static void start_extras(void)
{
	pthread_t thread;

	host_records = strchr(extras, 'h');
	if (strchr(extras, 'f') && pthread_create(&thread, NULL, flush, NULL))
		abort();
	if (strchr(extras, 'r') && pthread_create(&thread, NULL, read_rings, NULL))
		abort();
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

int InitializeInjection(void)
{
	static const struct alone_callbacks callbacks = {on_call, on_request, on_complete};
	const char *mode = getenv("BASELINE");

	cupti = alone__open();
	if (atexit(prove))
		abort();
	if (getenv("BASELINE_EXTRAS"))
		extras = getenv("BASELINE_EXTRAS");
	start_extras();
	alone__on(mode ? mode : "kernel", &callbacks);
	return 1;
}
