// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own; the session's thread. */
#include "cuda-trace/live/live_yields.h"

#include <string.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/capture/yields.h"

static void add_yield(void *context, struct process *process)
{
	struct live_yields *yields = context;
	struct live_yield *yield = &yields->yields[yields->count];

	if (process->ended || process->status.state != CUDA_STATE_YIELDED)
		return;
	yields->now++;
	if (yields->count == LIVE_YIELDS_MAX)
		return;
	yields->count++;
	yield->pid = process->pid;
	memcpy(yield->comm, process->comm, sizeof(yield->comm));
	memcpy(yield->client, process->client, sizeof(yield->client));
	yield->comm[sizeof(yield->comm) - 1] = 0;
	yield->since = yields__since(&process->status);
}

void live_yields__find(struct session *session, struct live_yields *yields, uint64_t total)
{
	yields->total = total;
	yields->now = yields->count = 0;
	session__each_process(session, add_yield, yields);
}
