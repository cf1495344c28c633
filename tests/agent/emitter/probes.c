// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library's side of the emitter: one site a probe, as in the agent.
 */
#include "tests/agent/emitter/emitter.h"

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define SEMAPHORE(probe)                                               \
	__extension__ volatile unsigned short cuda_##probe##_semaphore \
		__attribute__((used, section(".probes"), visibility("hidden")))

SEMAPHORE(launch_batch);
SEMAPHORE(kernel_batch);
SEMAPHORE(counters_batch);
SEMAPHORE(name);
SEMAPHORE(status);
SEMAPHORE(lost);
SEMAPHORE(error);

#define EXPORTED __attribute__((noinline, visibility("default")))

EXPORTED int emitter_wanted(void)
{
	return cuda_kernel_batch_semaphore != 0 || cuda_counters_batch_semaphore != 0;
}

EXPORTED void emitter_launches(const void *records, __u32 bytes, __u32 count, __u64 first,
			       __u64 instance)
{
	STAP_PROBE5(cuda, launch_batch, records, bytes, count, first, instance);
}

EXPORTED void emitter_kernels(const void *records, __u32 bytes, __u32 count, __u64 first,
			      __u64 instance)
{
	STAP_PROBE5(cuda, kernel_batch, records, bytes, count, first, instance);
}

EXPORTED void emitter_counters(const void *records, __u32 bytes, __u32 count, __u64 first,
			       __u64 instance)
{
	STAP_PROBE5(cuda, counters_batch, records, bytes, count, first, instance);
}

EXPORTED void emitter_name(__u64 instance, __u32 id, const char *name, __u32 length)
{
	STAP_PROBE4(cuda, name, instance, id, name, length);
}

EXPORTED void emitter_status(const struct cuda_status *status, __u32 size)
{
	STAP_PROBE2(cuda, status, status, size);
}

EXPORTED void emitter_lost(__u32 reason, __u64 count, __u64 total, __u64 instance)
{
	STAP_PROBE4(cuda, lost, reason, count, total, instance);
}

EXPORTED void emitter_error(__s32 code, const char *component, const char *message, __u64 instance)
{
	STAP_PROBE4(cuda, error, code, component, message, instance);
}
