// SPDX-License-Identifier: BSD-2-Clause
/*
 * A cache of control groups by id, because a short process leaves nothing else behind.
 */
#include "cuda-trace/live/live_origin.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/proc/process_stat.h"
#include "cuda-trace/live/live.h"

/* A container engine answers within a few ms; one that takes longer names later records. */
#define ANSWER_MS 100
#define SLOW_MS	  10000 /* nobody waits for the next ones of it */

struct live_origin *live_origin__of(struct live_origin origins[LIVE_ORIGINS],
				    const struct process *traced)
{
	struct live_origin *cached = &origins[traced->cgroup % LIVE_ORIGINS], *origin;

	origin = calloc(1, sizeof(*origin));
	if (!origin)
		return NULL;
	origin->id = traced->cgroup;
	cgroup__of(traced->pid, traced->cgroup, origin->cgroup, sizeof(origin->cgroup));
	cgroup__container(origin->cgroup, origin->container, sizeof(origin->container));
	if (*origin->cgroup)
		*cached = *origin;
	else if (cached->id == traced->cgroup)
		*origin = *cached;
	origin->known = origin__find(traced->pid, origin->cgroup, &origin->origin) == ORIGIN_KNOWN;
	return origin;
}

void live_origin__find(const struct live_origin origins[LIVE_ORIGINS], struct live_process *process)
{
	const struct live_origin *cached = &origins[process->state.cgroup % LIVE_ORIGINS];
	const struct live_origin *origin = process->traced ? process->traced->data : NULL;
	bool own = origin != NULL;

	if (process->traced)
		process->rank = process->traced->rank;
	else
		rank__of_process(&process->rank, process->key.pid);
	if (!origin && cached->id == process->state.cgroup)
		origin = cached;
	if (origin) {
		memcpy(process->cgroup, origin->cgroup, sizeof(process->cgroup));
		memcpy(process->container, origin->container, sizeof(process->container));
		/* Another process of the group can be of another job. */
		process->origin_known = own && origin->known;
		process->origin = own ? origin->origin : (struct origin){};
		live_origin__name(process, true);
		return;
	}
	cgroup__of(process->key.pid, process->state.cgroup, process->cgroup,
		   sizeof(process->cgroup));
	cgroup__container(process->cgroup, process->container, sizeof(process->container));
	live_origin__name(process, true);
}

void live_origin__name(struct live_process *process, bool wait)
{
	static uint64_t no_wait_until;
	enum origin_state state;

	if (process->origin_known)
		return;
	state = origin__find(process->key.pid, process->cgroup, &process->origin);
	if (state == ORIGIN_PENDING && wait && monotonic__ms() >= no_wait_until) {
		origin__wait(ANSWER_MS);
		state = origin__find(process->key.pid, process->cgroup, &process->origin);
		if (state == ORIGIN_PENDING)
			no_wait_until = monotonic__ms() + SLOW_MS;
	}
	process->origin_known = state == ORIGIN_KNOWN;
}

bool live_origin__is_later(uint32_t pid, uint64_t time)
{
	uint64_t start = process_stat__start_ns(pid);

	return start && start > time + process_stat__tick_ns();
}
