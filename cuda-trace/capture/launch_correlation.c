// SPDX-License-Identifier: BSD-2-Clause
/* When the table of halves is full, the oldest is emitted alone. The tool's one thread. */
#include "cuda-trace/capture/launch_correlation.h"

#include <stdlib.h>
#include <time.h>
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/pending.h"

#define MAX_HALVES 131072
/* A kernel may run, or wait in its stream, for long; its launch record cannot be later than the
 * agent's flush. */
#define KERNEL_WAIT_MS 10000
#define LAUNCH_WAIT_MS 2000

struct half {
	struct pending_entry entry;
	uint64_t came; /* ms */
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
	struct pending halves;
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
	join->now = now_ms();
	if (!pending__init(&join->halves, MAX_HALVES, sizeof(struct half)))
		return join;
	free(join);
	return NULL;
}

void launch_correlation__free(struct join *join)
{
	if (!join)
		return;
	pending__free(&join->halves);
	free(join);
}

static void emit_alone(struct join *join, struct half *which)
{
	/* A copy, because emitting must not see a half that is free already. */
	struct half half = *which;

	pending__remove(&join->halves, which);
	if (half.is_kernel)
		join->emit(join->context, half.entry.process, NULL, &half.kernel);
	else if (half.head.kind != CUDA_RECORD_GRAPH_LAUNCH)
		join->emit(join->context, half.entry.process, &half.launch, NULL);
}

static struct half *add(struct join *join, struct process *process, uint32_t correlation,
			bool is_kernel)
{
	struct half *half = pending__add(&join->halves, process, correlation);

	if (!half) {
		emit_alone(join, (struct half *)join->halves.oldest);
		half = pending__add(&join->halves, process, correlation);
	}
	half->came = join->now;
	half->is_kernel = is_kernel;
	return half;
}

static struct half *find(struct join *join, const struct process *process, uint32_t correlation,
			 bool is_kernel)
{
	struct half *half = pending__find(&join->halves, process, correlation);

	while (half && half->is_kernel != is_kernel)
		half = pending__next(half);
	return half;
}

void launch_correlation__launch(struct join *join, struct process *process,
				const struct cuda_launch *launch)
{
	bool graph = launch->head.kind == CUDA_RECORD_GRAPH_LAUNCH;
	struct half *half;

	/* A failed launch has no kernel; a graph's launch is an event of its own. */
	if (graph || launch->result)
		join->emit(join->context, process, launch, NULL);
	if (launch->result)
		return;
	while ((half = find(join, process, launch->head.correlation, true))) {
		struct cuda_kernel kernel = half->kernel;

		pending__remove(&join->halves, half);
		join->emit(join->context, process, launch, &kernel);
		if (!graph)
			return;
	}
	add(join, process, launch->head.correlation, false)->launch = *launch;
}

void launch_correlation__kernel(struct join *join, struct process *process,
				const struct cuda_kernel *kernel)
{
	struct half *half = find(join, process, kernel->head.correlation, false);

	if (!half) {
		add(join, process, kernel->head.correlation, true)->kernel = *kernel;
	} else if (half->head.kind == CUDA_RECORD_GRAPH_LAUNCH) {
		/* More of the graph's kernels may come. */
		join->emit(join->context, process, &half->launch, kernel);
	} else {
		struct cuda_launch launch = half->launch;

		pending__remove(&join->halves, half);
		join->emit(join->context, process, &launch, kernel);
	}
}

/* Without the GPU's side (the agent yielded, or has no CUPTI) there is nothing to wait for; nor, of
 * a sample, for the kernel of a launch that was made between windows. */
static uint64_t patience(const struct half *half)
{
	const struct cuda_status *status = &half->entry.process->status;

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
	struct pending_entry *entry, *newer;

	join->now = now_ms();
	for (entry = join->halves.oldest; entry; entry = newer) {
		struct half *half = (struct half *)entry;

		newer = entry->newer;
		if (join->now - half->came < LAUNCH_WAIT_MS)
			break;
		if (join->now - half->came >= patience(half))
			emit_alone(join, half);
	}
}

void launch_correlation__end(struct join *join, struct process *process)
{
	struct pending_entry *entry, *newer;

	for (entry = join->halves.oldest; entry; entry = newer) {
		newer = entry->newer;
		if (entry->process == process)
			emit_alone(join, (struct half *)entry);
	}
}
