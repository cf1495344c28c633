// SPDX-License-Identifier: BSD-2-Clause
/*
 * A cache of control groups by id, for want of anything else that a short process leaves behind.
 */
#include "cuda-trace/live_origin.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/cgroup.h"
#include "cuda-trace/live.h"

struct live_origin *live_origin__of(struct live_origin origins[LIVE_ORIGINS],
				    const struct process *told)
{
	struct live_origin *cached = &origins[told->cgroup % LIVE_ORIGINS], *origin;

	origin = calloc(1, sizeof(*origin));
	if (!origin)
		return NULL;
	origin->id = told->cgroup;
	cgroup__of(told->pid, told->cgroup, origin->cgroup, sizeof(origin->cgroup));
	cgroup__container(origin->cgroup, origin->container, sizeof(origin->container));
	if (*origin->cgroup)
		*cached = *origin;
	else if (cached->id == told->cgroup)
		*origin = *cached;
	return origin;
}

void live_origin__find(const struct live_origin origins[LIVE_ORIGINS], struct live_process *process)
{
	const struct live_origin *cached = &origins[process->state.cgroup % LIVE_ORIGINS];
	const struct live_origin *origin = process->told ? process->told->data : NULL;

	if (!origin && cached->id == process->state.cgroup)
		origin = cached;
	if (origin) {
		memcpy(process->cgroup, origin->cgroup, sizeof(process->cgroup));
		memcpy(process->container, origin->container, sizeof(process->container));
		return;
	}
	cgroup__of(process->key.pid, process->state.cgroup, process->cgroup,
		   sizeof(process->cgroup));
	cgroup__container(process->cgroup, process->container, sizeof(process->container));
}
