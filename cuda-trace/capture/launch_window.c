// SPDX-License-Identifier: BSD-2-Clause
/*
 * Called by the event dispatcher for each record of an agent; the tool's one thread. While the
 * window is open and a launch of the process has come, it costs two comparisons.
 *
 * After the end, a kernel that started behind it, or so shortly before that its GPU time may be
 * off, belongs to a launch that is outside, or waited in its stream. That is known when the launch
 * has come, which may be later: it is kept until then. So is a kernel that seems to be launched
 * before the first launch: another thread's launches may come later than the kernels.
 */
#include "cuda-trace/capture/launch_window.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEPT    65536
#define MAX_OUTSIDE (1u << 20) /* slots; half of them are used at most */
#define SLACK_NS    1000000ull /* more than GPU times are ever off */

struct kept {
	struct process *process;
	union {
		struct cuda_record head;
		struct cuda_kernel kernel;
		struct cuda_graph graph;
	};
};

struct launch_window {
	bool launches;
	launch_window_deliver deliver;
	void *context;
	uint64_t end; /* ns; 0 = open */
	struct kept *kept;
	uint32_t kept_count;
	uint64_t *outside; /* hash set of launches: pid and correlation, 0 = free; NULL = none */
	uint32_t outside_count;
};

struct launch_window *launch_window__new(bool launches, launch_window_deliver deliver,
					 void *context)
{
	struct launch_window *window = calloc(1, sizeof(*window));

	if (!window)
		return NULL;
	window->launches = launches;
	window->deliver = deliver;
	window->context = context;
	window->kept = malloc(MAX_KEPT * sizeof(*window->kept));
	if (window->kept)
		return window;
	free(window);
	return NULL;
}

void launch_window__free(struct launch_window *window)
{
	if (!window)
		return;
	free(window->kept);
	free(window->outside);
	free(window);
}

static uint64_t *slot_of(const struct launch_window *window, const struct process *process,
			 uint32_t correlation)
{
	uint64_t key = (uint64_t)process->pid << 32 | correlation;
	uint32_t i = key * 0x9e3779b97f4a7c15ull >> 32;

	while (window->outside[i & (MAX_OUTSIDE - 1)] &&
	       window->outside[i & (MAX_OUTSIDE - 1)] != key)
		i++;
	return &window->outside[i & (MAX_OUTSIDE - 1)];
}

static void note_outside(struct launch_window *window, const struct process *process,
			 uint32_t correlation)
{
	uint64_t *slot;

	if (window->outside_count >= MAX_OUTSIDE / 2)
		return;
	slot = slot_of(window, process, correlation);
	window->outside_count += !*slot;
	*slot = (uint64_t)process->pid << 32 | correlation;
}

/* Of more launches than can be noted, kernels that start behind the end count as outside. */
static bool is_outside(const struct launch_window *window, const struct process *process,
		       const struct cuda_record *record)
{
	if (!window->outside)
		return false;
	return window->outside_count >= MAX_OUTSIDE / 2 ||
	       *slot_of(window, process, record->correlation);
}

static bool is_before(uint32_t correlation, uint32_t other)
{
	return (int32_t)(correlation - other) < 0;
}

/* It was launched before the first launch that was seen, and was over about then. */
static bool is_earlier(const struct process *process, const struct cuda_record *record)
{
	const struct cuda_kernel *kernel = (const void *)record;

	if (!process->first_launch || record->kind != CUDA_RECORD_KERNEL)
		return false;
	/* What the GPU launched itself, in a conditional body, has no correlation id. */
	if (!record->correlation)
		return kernel->end < process->first_launch;
	return kernel->end < process->first_launch + SLACK_NS &&
	       is_before(record->correlation, process->first_correlation);
}

static void keep(struct launch_window *window, struct process *process,
		 const struct cuda_record *record)
{
	struct kept *kept = &window->kept[window->kept_count];

	if (window->kept_count == MAX_KEPT || record->size > sizeof(kept->kernel)) {
		window->deliver(window->context, process, record);
		return;
	}
	window->kept_count++;
	kept->process = process;
	memcpy(&kept->head, record, record->size);
}

static bool started_behind(const struct launch_window *window, const struct kept *kept)
{
	uint64_t start =
		kept->head.kind == CUDA_RECORD_GRAPH ? kept->graph.start : kept->kernel.start;

	return window->end && start + SLACK_NS >= window->end;
}

/* Those of the process of which it is known now that their launches are inside; at last, all. */
static void release(struct launch_window *window, struct process *process, bool last)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < window->kept_count; i++) {
		struct kept kept = window->kept[i];
		bool earlier = kept.process == process && is_earlier(process, &kept.head);

		if (kept.process != process ||
		    (!last && (earlier || started_behind(window, &kept))))
			window->kept[left++] = kept;
		else if (!earlier && !is_outside(window, process, &kept.head))
			window->deliver(window->context, process, &kept.head);
	}
	window->kept_count = left;
}

/* Kernels of this launch that came before it, and seemed to be earlier than the first. */
static void release_early(struct launch_window *window, struct process *process,
			  uint32_t correlation)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < window->kept_count; i++) {
		struct kept kept = window->kept[i];

		if (kept.process == process && kept.head.correlation == correlation &&
		    !started_behind(window, &kept))
			window->deliver(window->context, process, &kept.head);
		else
			window->kept[left++] = kept;
	}
	window->kept_count = left;
}

/* Only launches before process->early_until can be those of kernels that are kept. */
static void keep_early(struct launch_window *window, struct process *process,
		       const struct cuda_record *record)
{
	if (is_before(process->early_until, process->first_correlation))
		process->early_until = process->first_correlation;
	keep(window, process, record);
}

static void handle_launch(struct launch_window *window, struct process *process,
			  const struct cuda_launch *launch)
{
	bool first = !process->first_launch;

	if (window->end && launch->start >= window->end) {
		if (window->outside)
			note_outside(window, process, launch->head.correlation);
		return;
	}
	if (first)
		process->early_until = launch->head.correlation;
	if (first || launch->start < process->first_launch) {
		process->first_launch = launch->start;
		process->first_correlation = launch->head.correlation;
	}
	window->deliver(window->context, process, &launch->head);
	if (!window->kept_count)
		return;
	if (first)
		release(window, process, false);
	else if (is_before(launch->head.correlation, process->early_until))
		release_early(window, process, launch->head.correlation);
}

static void handle_kernel(struct launch_window *window, struct process *process,
			  const struct cuda_record *record, uint64_t start)
{
	/* The agent may send them to another tool only, or take stacks of them. */
	bool launches = window->launches && process->status.groups >> CUDA_GROUP_LAUNCH & 1;

	if (is_earlier(process, record)) {
		keep_early(window, process, record);
		return;
	}
	if (window->end && start + SLACK_NS >= window->end) {
		if (!is_outside(window, process, record))
			keep(window, process, record);
		return;
	}
	if (!process->first_launch && launches)
		keep(window, process, record);
	else
		window->deliver(window->context, process, record);
}

/* When those began that nothing is kept back for; 0 = it does not matter. */
static uint64_t beginning_of(const struct cuda_record *record)
{
	switch (record->kind) {
	case CUDA_RECORD_MEMCPY:
		return ((const struct cuda_memcpy *)record)->start;
	case CUDA_RECORD_MEMSET:
		return ((const struct cuda_memset *)record)->start;
	case CUDA_RECORD_MEMORY:
		return ((const struct cuda_memory *)record)->time;
	case CUDA_RECORD_MEMORY_POOL:
		return ((const struct cuda_memory_pool *)record)->time;
	case CUDA_RECORD_SYNC:
		return ((const struct cuda_sync *)record)->start;
	case CUDA_RECORD_API:
	case CUDA_RECORD_GRAPH_INSTANTIATE:
		return ((const struct cuda_api *)record)->start;
	case CUDA_RECORD_GRAPH_NODE:
		return ((const struct cuda_graph_node *)record)->start;
	case CUDA_RECORD_OVERHEAD:
		return ((const struct cuda_overhead *)record)->start;
	case CUDA_RECORD_JIT:
		return ((const struct cuda_jit *)record)->start;
	case CUDA_RECORD_UVM:
		return ((const struct cuda_uvm *)record)->start;
	case CUDA_RECORD_NVTX:
	case CUDA_RECORD_NVTX_OPEN:
		return ((const struct cuda_nvtx *)record)->start;
	}
	return 0;
}

void launch_window__take(struct launch_window *window, struct process *process,
			 const struct cuda_record *record)
{
	switch (record->kind) {
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		handle_launch(window, process, (const void *)record);
		break;
	case CUDA_RECORD_KERNEL:
		handle_kernel(window, process, record, ((const struct cuda_kernel *)record)->start);
		break;
	case CUDA_RECORD_GRAPH:
		handle_kernel(window, process, record, ((const struct cuda_graph *)record)->start);
		break;
	default:
		if (!window->end || beginning_of(record) < window->end)
			window->deliver(window->context, process, record);
	}
}

void launch_window__close(struct launch_window *window, uint64_t end)
{
	window->end = end;
	window->outside = calloc(MAX_OUTSIDE, sizeof(*window->outside));
}

uint64_t launch_window__end(const struct launch_window *window)
{
	return window->end;
}

void launch_window__finish(struct launch_window *window, struct process *process)
{
	if (window->kept_count)
		release(window, process, true);
}
