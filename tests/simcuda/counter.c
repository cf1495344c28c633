// SPDX-License-Identifier: BSD-2-Clause
// An injection library that counts with plain CUPTI what a program does, and at its end appends the
// counts to the file that COUNTER_OUT names: one line like the program's own `expect` line, then
// one for each kind of thing seen. It is the second opinion on the test programs, on the simulated
// driver and on a real one. COUNTER_CUPTI: which libcupti (libcupti.so.13). COUNTER_GRAPHS=1: whole
// graphs instead of their nodes; COUNTER_FORCE=1: the last flush is forced, and unfinished says how
// many kernels came without an end; COUNTER_LATE=1: it comes a second late.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/cupti.h"

#define BUFFER	 (1 << 20)
#define SUBTYPES 32

#define FUNCTIONS(X)                                  \
	X(cuptiSubscribe)                             \
	X(cuptiEnableCallback)                        \
	X(cuptiActivityConfigureUnifiedMemoryCounter) \
	X(cuptiActivityRegisterCallbacks)             \
	X(cuptiActivityEnable)                        \
	X(cuptiActivityFlushAll)                      \
	X(cuptiActivityGetNextRecord)                 \
	X(cuptiActivityGetNumDroppedRecords)

static struct {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} cupti;

static struct {
	_Atomic uint64_t launches, launch_errors, graph_launches, runtime_launches,
		same_correlation, buffers;
	_Atomic uint64_t resources[SUBTYPES];
	uint64_t subscribe_ms, kernels, unfinished, memcpys, memcpy_bytes, memsets, allocs, frees,
		syncs;
	int64_t live_bytes;
	int unified_error;
	uint64_t subtypes[64][SUBTYPES]; /* of each kind of record: copies by direction and so on */
} seen;

static __thread uint32_t runtime_correlation;
static pid_t owner; /* CUPTI hangs when a forked child flushes */

__attribute__((visibility("default"))) int InitializeInjection(void);

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ULL + time.tv_nsec / 1000000;
}

static void requested(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*records = 0;
	seen.buffers++;
}

static void count_memory(const CUpti_Memory *memory)
{
	seen.subtypes[memory->kind][memory->memory_kind % SUBTYPES]++;
	if (memory->memory_kind >= 6) /* static variables: nobody allocated them */
		return;
	seen.allocs += memory->operation == 1;
	seen.frees += memory->operation == 2;
	seen.live_bytes += memory->operation == 1 ? memory->bytes : -memory->bytes;
}

static void take(const CUpti_Activity *record)
{
	const CUpti_Memcpy *copy = (const void *)record;
	const CUpti_Synchronization *sync = (const void *)record;
	const CUpti_Unified *unified = (const void *)record;

	switch (record->kind) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		seen.kernels++;
		seen.unfinished += !((const CUpti_Kernel *)record)->end;
		break;
	case CUPTI_KIND_MEMCPY:
	case CUPTI_KIND_MEMCPY2:
		seen.memcpys++;
		seen.memcpy_bytes += copy->bytes;
		seen.subtypes[record->kind][copy->copy_kind % SUBTYPES]++;
		break;
	case CUPTI_KIND_MEMSET:
		seen.memsets++;
		break;
	case CUPTI_KIND_MEMORY2:
		count_memory((const void *)record);
		break;
	case CUPTI_KIND_SYNCHRONIZATION:
		seen.syncs += sync->type == 1 || sync->type == 3 || sync->type == 4;
		seen.subtypes[record->kind][sync->type % SUBTYPES]++;
		break;
	case CUPTI_KIND_UNIFIED:
		seen.subtypes[record->kind][unified->counter % SUBTYPES] += unified->value;
		break;
	case CUPTI_KIND_DEVICE: /* its name is the client's to free */
		free((void *)((const CUpti_Device *)record)->name);
		seen.subtypes[record->kind][0]++;
		break;
	default:
		seen.subtypes[record->kind % 64][0]++;
	}
}

static void completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
		      size_t valid)
{
	CUpti_Activity *record = NULL;

	while (valid && !cupti.cuptiActivityGetNextRecord(buffer, valid, &record))
		take(record);
	free(buffer);
}

static void callback(void *data, int domain, uint32_t cbid, const void *pointer)
{
	const CUpti_CallbackData *call = pointer;

	if (domain == CUPTI_DOMAIN_RESOURCE) {
		seen.resources[cbid % SUBTYPES]++;
		return;
	}
	if (domain == CUPTI_DOMAIN_RUNTIME) {
		runtime_correlation = call->site ? 0 : call->correlationId;
		seen.runtime_launches += call->site;
		return;
	}
	if (!call->site) {
		seen.same_correlation += call->correlationId == runtime_correlation;
		return;
	}
	if (cbid == 514 || cbid == 515)
		seen.graph_launches++;
	else
		seen.launches++;
	seen.launch_errors += *(CUresult *)call->functionReturnValue != CUDA_SUCCESS;
}

static void tell_subtypes(FILE *file)
{
	for (int kind = 0; kind < 64; kind++)
		for (int subtype = 0; subtype < SUBTYPES; subtype++)
			if (seen.subtypes[kind][subtype])
				fprintf(file, "kind %d subtype %d: %llu\n", kind, subtype,
					(unsigned long long)seen.subtypes[kind][subtype]);
	for (int cbid = 0; cbid < SUBTYPES; cbid++)
		if (seen.resources[cbid])
			fprintf(file, "resource %d: %llu\n", cbid,
				(unsigned long long)seen.resources[cbid]);
}

static void at_exit(void)
{
	const char *path = getenv("COUNTER_OUT");
	FILE *file = path && getpid() == owner ? fopen(path, "a") : NULL;
	size_t dropped = 0;

	if (!file)
		return;
	cupti.cuptiActivityFlushAll(getenv("COUNTER_FORCE") != NULL);
	cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
#define TELL(name) fprintf(file, " " #name "=%llu", (unsigned long long)seen.name)
	fprintf(file, "counted");
	TELL(launches);
	TELL(kernels);
	TELL(launch_errors);
	TELL(graph_launches);
	TELL(memcpys);
	TELL(memcpy_bytes);
	TELL(memsets);
	TELL(allocs);
	TELL(frees);
	TELL(live_bytes);
	TELL(syncs);
	TELL(unfinished);
	TELL(runtime_launches);
	TELL(same_correlation);
	TELL(buffers);
	TELL(unified_error);
	TELL(subscribe_ms);
	fprintf(file, " dropped=%zu\n", dropped);
#undef TELL
	tell_subtypes(file);
	fclose(file);
}

static int load(const char *path)
{
	void *library = dlopen(path ? path : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return 0;
#define LOAD(name)                                                  \
	cupti.name = (__typeof__(cupti.name))dlsym(library, #name); \
	if (!cupti.name)                                            \
		return 0;
	FUNCTIONS(LOAD)
#undef LOAD
	return 1;
}

/* Enabled after this only, as unified memory is counted only where it was configured. */
static void count_unified_memory(void)
{
	struct {
		uint32_t scope, kind, device, enable;
	} config[] = {{1, 1, 0, 1}, {1, 2, 0, 1}, {1, 3, 0, 1}, {1, 4, 0, 1}};

	seen.unified_error = cupti.cuptiActivityConfigureUnifiedMemoryCounter(config, 4);
	if (!seen.unified_error)
		seen.unified_error = cupti.cuptiActivityEnable(CUPTI_KIND_UNIFIED);
}

/* Switches everything on. */
static void attach(void)
{
	static const uint32_t driver[] = {307, 442, 477, 478, 652, 653, 514, 515};
	static const uint32_t runtime[] = {211, 214, 430, 431};
	static const uint32_t kinds[] = {1, 2, 8, 9, 10, 17, 22, 37, 38, 49, 50, 52};
	CUpti_SubscriberHandle subscriber;
	uint64_t start = now_ms();

	if (cupti.cuptiSubscribe(&subscriber, callback, NULL))
		return;
	seen.subscribe_ms = now_ms() - start;
	for (size_t i = 0; i < sizeof(driver) / sizeof(*driver); i++)
		cupti.cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_DRIVER, driver[i]);
	for (size_t i = 0; i < sizeof(runtime) / sizeof(*runtime); i++)
		cupti.cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_RUNTIME, runtime[i]);
	for (uint32_t cbid = 1; cbid < 24; cbid++)
		cupti.cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE, cbid);
	cupti.cuptiActivityRegisterCallbacks(requested, completed);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cupti.cuptiActivityEnable(kinds[i]);
	count_unified_memory();
	if (getenv("COUNTER_GRAPHS"))
		cupti.cuptiActivityEnable(CUPTI_KIND_GRAPH_TRACE);
}

/* A second into the program's work, as somebody who comes late. */
static void *attach_late(void *nothing)
{
	sleep(1);
	attach();
	return nothing;
}

int InitializeInjection(void)
{
	pthread_t thread;

	if (!load(getenv("COUNTER_CUPTI")))
		return 1;
	if (getenv("COUNTER_LATE"))
		pthread_create(&thread, NULL, attach_late, NULL);
	else
		attach();
	owner = getpid();
	atexit(at_exit);
	return 1;
}
