// SPDX-License-Identifier: BSD-2-Clause
/*
 * GPUs, whatever numbers the processes give them.
 */
#include "cuda-trace/live/live_gpus.h"

#include <stdio.h>

int live_gpus__of(const struct live_process *process, uint32_t device)
{
	return device < AGGREGATE_DEVICES ? process->state.gpu_of[device] - 1 : -1;
}

void live_gpus__uuid(char out[48], const struct cuda_device *device)
{
	const uint8_t *uuid = device->mig ? device->mig_uuid : device->uuid;

	snprintf(out, 48, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 device->mig ? "MIG" : "GPU", uuid[0], uuid[1], uuid[2], uuid[3], uuid[4], uuid[5],
		 uuid[6], uuid[7], uuid[8], uuid[9], uuid[10], uuid[11], uuid[12], uuid[13],
		 uuid[14], uuid[15]);
}
