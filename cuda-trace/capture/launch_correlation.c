// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hash table of halves, and a list of them by age. Its size is fixed: when it is full the oldest
 * half is emitted alone. The tool's one thread.
 */
#include "cuda-trace/capture/launch_correlation.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/capture/agent_state.h"

#define MAX_HALVES 131072
#define HEADS	   65536
/* A kernel may run, or wait in its stream, for long; its launch record cannot be later than the
 * agent's flush. */
#define KERNEL_WAIT_MS 10000
#define LAUNCH_WAIT_MS 2000

#define NONE	       UINT32_MAX

struct half {
	struct process *process;
	uint64_t came; /* ms */
	uint32_t next; /* with the same hash, or the next free one */
	uint32_t older, newer;
	bool is_kernel;
	union {
		struct cuda_record head;
		struct cuda_launch launch;
		struct cuda_kernel kernel;
	};
};

struct join {
	join_emit emit;
	void *context;
	struct half *halves;
	uint32_t *heads;
	uint32_t used; /* never used ones begin here, so that unused memory is never touched */
	uint32_t free;
	/* By age. */
	uint32_t oldest, newest;
	uint64_t now;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

struct join *launch_correlation__new(join_emit emit, void *context)
{
	struct join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	join->emit = emit;
	join->context = context;
	join->halves = malloc(MAX_HALVES * sizeof(*join->halves));
	join->heads = malloc(HEADS * sizeof(*join->heads));
	if (!join->halves || !join->heads) {
		launch_correlation__free(join);
		return NULL;
	}
	memset(join->heads, 0xff, HEADS * sizeof(*join->heads));
	join->free = join->oldest = join->newest = NONE;
	join->now = now_ms();
	return join;
}

void launch_correlation__free(struct join *join)
{
	if (!join)
		return;
	free(join->halves);
	free(join->heads);
	free(join);
}

static uint32_t *head(struct join *join, const struct process *process, uint32_t correlation)
{
	uint32_t hash = (correlation + process->pid * 2654435761u) * 0x9e3779b1u;

	return &join->heads[hash >> 16 & (HEADS - 1)];
}

static void unlink_half(struct join *join, uint32_t index)
{
	struct half *half = &join->halves[index];
	uint32_t *link = head(join, half->process, half->head.correlation);

	while (*link != index)
		link = &join->halves[*link].next;
	*link = half->next;
	if (half->older == NONE)
		join->oldest = half->newer;
	else
		join->halves[half->older].newer = half->newer;
	if (half->newer == NONE)
		join->newest = half->older;
	else
		join->halves[half->newer].older = half->older;
	half->next = join->free;
	join->free = index;
}

static void emit_alone(struct join *join, uint32_t index)
{
	/* A copy, because emitting must not see a half that is free already. */
	struct half half = join->halves[index];

	unlink_half(join, index);
	if (half.is_kernel)
		join->emit(join->context, half.process, NULL, &half.kernel);
	else if (half.head.kind != CUDA_RECORD_GRAPH_LAUNCH)
		join->emit(join->context, half.process, &half.launch, NULL);
}

static struct half *put_in(struct join *join, struct process *process, uint32_t correlation)
{
	uint32_t *link = head(join, process, correlation);
	struct half *half;
	uint32_t index;

	if (join->free == NONE && join->used == MAX_HALVES) {
		emit_alone(join, join->oldest);
		link = head(join, process, correlation);
	}
	if (join->free != NONE) {
		index = join->free;
		join->free = join->halves[index].next;
	} else {
		index = join->used++;
	}
	half = &join->halves[index];
	half->process = process;
	half->came = join->now;
	half->next = *link;
	*link = index;
	half->newer = NONE;
	half->older = join->newest;
	if (join->newest == NONE)
		join->oldest = index;
	else
		join->halves[join->newest].newer = index;
	join->newest = index;
	return half;
}

static uint32_t find(struct join *join, const struct process *process, uint32_t correlation,
		     bool kernel)
{
	uint32_t index = *head(join, process, correlation);

	for (; index != NONE; index = join->halves[index].next) {
		const struct half *half = &join->halves[index];

		if (half->head.correlation == correlation && half->process == process &&
		    half->is_kernel == kernel)
			break;
	}
	return index;
}

void launch_correlation__launch(struct join *join, struct process *process,
				const struct cuda_launch *launch)
{
	bool graph = launch->head.kind == CUDA_RECORD_GRAPH_LAUNCH;
	struct half *half;
	uint32_t index;

	/* A failed launch has no kernel; a graph's launch is an event of its own. */
	if (graph || launch->result)
		join->emit(join->context, process, launch, NULL);
	if (launch->result)
		return;
	while ((index = find(join, process, launch->head.correlation, true)) != NONE) {
		struct cuda_kernel kernel = join->halves[index].kernel;

		unlink_half(join, index);
		join->emit(join->context, process, launch, &kernel);
		if (!graph)
			return;
	}
	half = put_in(join, process, launch->head.correlation);
	half->is_kernel = false;
	half->launch = *launch;
}

void launch_correlation__kernel(struct join *join, struct process *process,
				const struct cuda_kernel *kernel)
{
	uint32_t index = find(join, process, kernel->head.correlation, false);
	struct half *half;

	if (index == NONE) {
		half = put_in(join, process, kernel->head.correlation);
		half->is_kernel = true;
		half->kernel = *kernel;
		return;
	}
	half = &join->halves[index];
	if (half->head.kind == CUDA_RECORD_GRAPH_LAUNCH) {
		/* More of the graph's kernels may come. */
		join->emit(join->context, process, &half->launch, kernel);
	} else {
		struct cuda_launch launch = half->launch;

		unlink_half(join, index);
		join->emit(join->context, process, &launch, kernel);
	}
}

/* Without the GPU's side (the agent yielded, or has no CUPTI) there is nothing to wait for; nor, of
 * a sample, for the kernel of a launch that was made between windows. */
static uint64_t patience(const struct half *half)
{
	const struct cuda_status *status = &half->process->status;

	if (half->is_kernel)
		return LAUNCH_WAIT_MS;
	if (status->version &&
	    (status->state != CUDA_STATE_ACTIVE || agent_state__is_profiled(status)))
		return LAUNCH_WAIT_MS;
	/* Nor for that of a launch into a stream capture. */
	if (!(half->launch.flags & CUDA_LAUNCH_TIMED))
		return LAUNCH_WAIT_MS;
	return KERNEL_WAIT_MS;
}

void launch_correlation__expire(struct join *join)
{
	uint32_t index, newer;

	join->now = now_ms();
	for (index = join->oldest; index != NONE; index = newer) {
		const struct half *half = &join->halves[index];

		newer = half->newer;
		if (join->now - half->came < LAUNCH_WAIT_MS)
			break;
		if (join->now - half->came >= patience(half))
			emit_alone(join, index);
	}
}

void launch_correlation__end(struct join *join, struct process *process)
{
	uint32_t index, newer;

	for (index = join->oldest; index != NONE; index = newer) {
		newer = join->halves[index].newer;
		if (join->halves[index].process == process)
			emit_alone(join, index);
	}
}
