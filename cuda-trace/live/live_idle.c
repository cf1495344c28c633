// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/live/live_idle.h"

#include <stddef.h>

#define OPERATION_GROUPS                                                               \
	(1u << CUDA_GROUP_LAUNCH | 1u << CUDA_GROUP_KERNEL | 1u << CUDA_GROUP_MEMCPY | \
	 1u << CUDA_GROUP_MEMSET | 1u << CUDA_GROUP_DEVICE)

bool live_idle__open(struct idle **idle, struct session_options *options)
{
	options->groups |= OPERATION_GROUPS | IDLE_CALL_GROUPS;
	options->ring_mib = 0;
	*idle = idle__new(true);
	return *idle;
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
