// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/live/live_records.h"

#include <poll.h>

#include "cuda-trace/idle/idle_budget.h"

/* Between two turns: records may come all the time, and scrapes want the lock. */
#define REST_MS 5

static void note_waited(void *context, const struct collective_wait *wait)
{
	idle__waited(((struct live_records *)context)->idle, wait);
}

bool live_records__open(struct live_records *records, const struct live_options *options,
			struct session_options *session)
{
	if (options->idle && !live_idle__open(&records->idle, &options->sample, session))
		return false;
	if (options->collectives)
		records->collectives = live_collectives__open(session, options->collective_ranks);
	if (records->idle && records->collectives)
		live_collectives__notify(records->collectives, note_waited, records);
	return records->collectives || !options->collectives;
}

void live_records__start(struct live_records *records, struct process *process)
{
	idle__start(records->idle, process);
}

void live_records__record(void *context, struct process *process, const struct cuda_record *record)
{
	struct live_records *records = context;

	idle__record(records->idle, process, record);
	live_collectives__record(records->collectives, process, record);
}

void live_records__collective(void *context, struct process *process,
			      const struct event_collective *call,
			      const struct recorded_kernel *kernel)
{
	struct live_records *records = context;

	live_collectives__call(records->collectives, process, call);
}

void live_records__end(struct live_records *records, struct process *process)
{
	idle__end(records->idle, process);
	live_collectives__end(records->collectives, process);
}

void live_records__follow(struct live_records *records, struct live_pace *pace)
{
	idle__follow(records->idle);
	idle_budget__tick(records->idle, pace->overhead, pace->command);
	live_collectives__follow(records->collectives);
}

void live_records__wait(const struct live_records *records, const struct session *session,
			int timeout_ms)
{
	bool urgent = records->collectives || records->idle;
	int rest_ms = urgent && timeout_ms > REST_MS ? REST_MS : timeout_ms;

	if (!poll(NULL, 0, rest_ms) && rest_ms < timeout_ms)
		session__wait(session, timeout_ms - rest_ms);
}

void live_records__free(struct live_records *records)
{
	idle__free(records->idle);
	live_collectives__free(records->collectives);
}
