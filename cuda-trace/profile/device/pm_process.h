/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that samples one GPU: NVIDIA's libraries live in it and not in the tool, which they
 * may crash or hold up.
 */
#ifndef CUDA_TRACE_PROFILE_DEVICE_PM_PROCESS_H
#define CUDA_TRACE_PROFILE_DEVICE_PM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/profile/counters/metric_library_calls.h"
#include "cuda-trace/profile/device/pm_calls.h"
#include "cuda-trace/profile/device/pm_columns.h"
#include "cuda-trace/profile/device/pm_wire.h"

struct pm_request {
	struct pm_choice choice;
	uint64_t every;	    /* ns between two samples */
	uint32_t try_again; /* seconds between two tries at most; 0 = give up */
};

/* One GPU being sampled. */
struct pm_process {
	int out;
	bool gone; /* the tool has exited: release the GPU and exit */
	unsigned int device;
	const struct pm_request *request;
	struct library_calls library;
	struct pm_calls calls;
	struct pm_started started;
	const char
		*names[PM_COLUMNS]; /* of those that are sampled, and to which column each goes */
	unsigned int columns[PM_COLUMNS];
	char texts[PM_COLUMNS][200];
	size_t count;
	uint8_t *availability;
	uint8_t *config;
	size_t config_size;
	char unknown[720]; /* what is to be said of a metric that the chip has not */
	void *host;
	void *object;
	uint8_t *data;
	size_t data_size;
	int64_t offset;	   /* CLOCK_MONOTONIC - the GPU's clock */
	bool is_first;	   /* no sample came since it was started */
	uint64_t last_end; /* of the last sample, by the GPU's clock; 0 = none */
	uint64_t last_length;
};

/* In a new process: samples until the other end of the socket `out` is shut. */
_Noreturn void pm_process__run(int out, unsigned int device, const struct pm_request *request);

/* A frame. Waits while the tool does not read. */
void pm_process__send(struct pm_process *helper, uint32_t kind, const void *frame, size_t size);

/* pm_config.c: which metrics this chip can sample together, and the configuration for them. NULL,
 * or the function that fails, with its result. */
const char *pm_config__make(struct pm_process *helper, int *result);
/* One pass collects these together. */
bool pm_config__goes(const struct pm_process *helper, const char **names, size_t count);

/* pm_metric_check.c: is a metric that was requested by its name none of the chip's, or its rollup
 * none of its own? Then helper->unknown says which, and what is near it. */
bool pm_unknown__find(struct pm_process *helper, void *host);

/* pm_sampling.c: from Enable to Disable. NULL = a request stopped it, else as above. */
const char *pm_sampling__run(struct pm_process *helper, int *result);

#endif
