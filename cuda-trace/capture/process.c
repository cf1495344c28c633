// SPDX-License-Identifier: BSD-2-Clause
/*
 * One traced process and its names. Made by the event dispatcher, read by sinks; the tool's one
 * thread.
 */
#include "cuda-trace/capture/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/capture/driver_names.h"
#include "cuda-trace/base/names.h"
#include "cuda-trace/base/payload_parts.h"
#include "cuda-trace/capture/agent_state.h"

struct process *process__new(uint32_t pid, uint64_t instance)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->names = names__new();
	if (!process->names) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	process->instance = instance;
	process->exit_status = -1;
	process->rank = (struct rank){.size = -1, .local = -1};
	for (int i = 0; i < CUDA_GROUP_COUNT; i++)
		process->numbers[i].lowest = UINT64_MAX;
	return process;
}

void process__free(struct process *process)
{
	if (!process)
		return;
	names__free(process->names);
	payload_parts__free(process->payloads);
	driver_names__free(process->driver_names);
	free(process);
}

const char *process__source(const struct process *process)
{
	return agent_state__source(&process->status, process->source);
}

const char *process__name(const struct process *process, uint32_t id)
{
	return names__get(process->names, id);
}

const char *process__pretty_name(struct process *process, uint32_t id)
{
	/* For ids without a name; the caller uses it before it asks for the next one. */
	static char nameless[32];
	const char *pretty;

	if (!id)
		return "";
	pretty = names__pretty(process->names, id);
	if (pretty)
		return pretty;
	if (names__handle(process->names, id)) {
		snprintf(nameless, sizeof(nameless), "[handle 0x%" PRIx64 "]",
			 names__handle(process->names, id));
	} else {
		snprintf(nameless, sizeof(nameless), "[name %u]", id);
		names__note_missing(process->names, id);
	}
	return nameless;
}

/* The process may write there what it likes. */
#define YIELDS_MAX 1000

static uint64_t yielded_ns(const struct cuda_status *status)
{
	uint64_t ns = status->yielded_ns;

	if (status->yielded_since && status->time > status->yielded_since)
		ns += status->time - status->yielded_since;
	return ns;
}

static uint32_t yields_between(const struct cuda_status *before, const struct cuda_status *now)
{
	bool yields = now->state == CUDA_STATE_YIELDED;

	if (!before->version)
		return yields;
	if (now->yields > before->yields)
		return now->yields - before->yields < YIELDS_MAX ? now->yields - before->yields
								 : YIELDS_MAX;
	/* An older library does not count. */
	return !now->yields && yields && before->state != CUDA_STATE_YIELDED;
}

uint32_t process__set_status(struct process *process, const struct cuda_status *status)
{
	uint32_t yields = yields_between(&process->status, status);

	if (!process->status.version)
		process->yielded_before = yielded_ns(status);
	process->yields += yields;
	process->yielded_ns = yielded_ns(status) - process->yielded_before;
	process->status = *status;
	return yields;
}

bool process__lost_kernels(const struct process *process, uint64_t launched, uint64_t kernels)
{
	launched += process->unsent;
	return process->killed && launched > kernels && (launched - kernels) * 100 > launched;
}
