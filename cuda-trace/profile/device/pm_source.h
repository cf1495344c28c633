/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of whole GPUs: starts a helper process for each GPU and hands out what they tell. One
 * thread. Bounded: a tool that does not read holds up the helpers, whose GPUs' buffers then
 * overflow, which is counted.
 */
#ifndef CUDA_TRACE_PROFILE_DEVICE_PM_SOURCE_H
#define CUDA_TRACE_PROFILE_DEVICE_PM_SOURCE_H

#include "cuda-trace/profile/device/pm_process.h"

#define PM_DEVICES 64

struct pm_device {
	unsigned int number;
	struct pm_hello hello;
	struct pm_started started; /* valid once .is_started */
	bool is_started;
	uint64_t samples, lost, lost_ns, overflows;
	void *data; /* the sink's */
};

struct pm_sink {
	void *context;
	void (*started)(void *context, struct pm_device *device);
	void (*sample)(void *context, struct pm_device *device, const struct pm_sample *sample);
	/* Why there are none (any more) of this GPU, and how to fix it. */
	void (*trouble)(void *context, struct pm_device *device, const char *text);
};

struct pm_source;

/* gpus: bits of those that are wanted, 0 = all. The request must live as long. */
struct pm_source *pm_source__open(const struct pm_request *request, uint64_t gpus,
				  const struct pm_sink *sink);
/* Waits at most so long, hands out what came. False: nobody samples any more. */
bool pm_source__poll(struct pm_source *source, int timeout_ms);
/* All helpers that there will be are there (or the first one is gone): no more processes are
 * forked. */
bool pm_source__is_complete(const struct pm_source *source);
/* Asks for the last samples, and hands them out. */
void pm_source__finish(struct pm_source *source);
void pm_source__close(struct pm_source *source);
/* Those known so far, for a summary; NULL = there are no more. */
struct pm_device *pm_source__device(struct pm_source *source, unsigned int index);

/* pm_trouble.c: a sentence for people, with the remedy. */
const char *pm_trouble__text(const struct pm_trouble *trouble, char *out, size_t size);

#endif
