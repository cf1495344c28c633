// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/live/live_idle.h"

#include <string.h>
#include "cuda-trace/live/live_gpus.h"

#define OPERATION_GROUPS                                                               \
	(1u << CUDA_GROUP_LAUNCH | 1u << CUDA_GROUP_KERNEL | 1u << CUDA_GROUP_MEMCPY | \
	 1u << CUDA_GROUP_MEMSET | 1u << CUDA_GROUP_DEVICE)

bool live_idle__open(struct idle **idle, const struct sample *sample,
		     struct session_options *options)
{
	options->groups |= sample_options__groups(sample, OPERATION_GROUPS) | IDLE_CALL_GROUPS;
	options->ring_mib = 0;
	*idle = idle__new(true);
	return *idle && (!sample->on_ms || idle__sample(*idle));
}

void live_idle__uuid(char out[48], const struct idle_gpu *gpu)
{
	static const uint8_t none[16];
	struct cuda_device device = {};

	memcpy(device.uuid, gpu->uuid, sizeof(gpu->uuid));
	memcpy(device.mig_uuid, gpu->mig_uuid, sizeof(gpu->mig_uuid));
	device.mig = memcmp(gpu->mig_uuid, none, sizeof(none)) != 0;
	*out = 0;
	if (gpu->known)
		live_gpus__uuid(out, &device);
}

static void start_process(void *context, struct process *process)
{
	idle__start(context, process);
}

void live_idle__attach(struct idle *idle, struct session *session)
{
	if (!idle)
		return;
	idle__attach(idle, session);
	/* Those that were found before. */
	session__each_process(session, start_process, idle);
}
