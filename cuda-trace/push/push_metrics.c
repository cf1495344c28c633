// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_metrics.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"

#define FORGET_AFTER 360 /* intervals in which a process did nothing: an hour */

struct seen_process {
	gpu_ordinals ordinals;
};

struct push_metrics *push_metrics__new(uint64_t since)
{
	struct push_metrics *metrics = calloc(1, sizeof(*metrics));

	if (metrics)
		metrics->since = since;
	return metrics;
}

/* The functions that get records accept NULL, where no metrics are wanted. */
void push_metrics__start(struct push_metrics *metrics, struct process *process)
{
	process->recorded = metrics ? calloc(1, sizeof(struct seen_process)) : NULL;
}

static void note_device(struct push_metrics *metrics, struct process *process,
			const struct cuda_device *device)
{
	struct seen_process *seen = process->recorded;
	int gpu = gpu_set__identify(&metrics->set, seen->ordinals, device);
	const char *name = process__name(process, device->name);

	if (gpu < 0)
		return;
	metrics->gpus[gpu].memory = device->memory;
	text__show(metrics->gpus[gpu].model, sizeof(metrics->gpus[gpu].model), name ? name : "",
		   sizeof(metrics->gpus[gpu].model) / 4 - 1);
}

static void note_kernel(struct push_metrics *metrics, struct process *process,
			const struct cuda_kernel *kernel)
{
	struct seen_process *seen = process->recorded;
	int gpu = gpu_set__find(&metrics->set, seen->ordinals, kernel->device);

	if (gpu >= 0 && kernel->end > kernel->start)
		interval_set__add(&metrics->gpus[gpu].busy, kernel->start, kernel->end);
}

void push_metrics__record(struct push_metrics *metrics, struct process *process,
			  const struct cuda_record *record)
{
	if (!metrics || !process->recorded)
		return;
	if (record->kind == CUDA_RECORD_KERNEL)
		note_kernel(metrics, process, (const struct cuda_kernel *)record);
	else if (record->kind == CUDA_RECORD_DEVICE)
		note_device(metrics, process, (const struct cuda_device *)record);
}

void push_metrics__end(struct push_metrics *metrics, struct process *process)
{
	if (!metrics)
		return;
	free(process->recorded);
	process->recorded = NULL;
}

static struct push_series *series_of(struct push_metrics *metrics, const struct push_source *source,
				     int64_t device, uint64_t from)
{
	struct push_series *series;

	for (uint32_t i = 0; i < metrics->series_count; i++) {
		series = &metrics->series[i];
		if (series->device == device && series->source.pid == source->pid &&
		    !strcmp(series->source.comm, source->comm))
			return series;
	}
	if (metrics->series_count == PUSH_METRICS_SERIES ||
	    !array_grow__counted(metrics->series, metrics->series_count))
		return NULL;
	series = &metrics->series[metrics->series_count++];
	*series = (struct push_series){.source = *source, .device = device, .since = from};
	return series;
}

void push_metrics__add(struct push_metrics *metrics, const struct push_source *source,
		       const struct stacks *stacks, uint64_t from)
{
	struct push_series *series = NULL;

	for (size_t i = 1; metrics && i < stacks->count; i++) {
		const struct stacks_node *node = &stacks->nodes[i];

		if (!node->leaf)
			continue;
		if (!series || series->device != node->device)
			series = series_of(metrics, source, node->device, from);
		if (!series) {
			metrics->left_out += node->count;
			continue;
		}
		/* The names of pods may have come since. */
		series->source = *source;
		series->kernels += node->count;
		series->ns += node->ns;
		series->silent = 0;
	}
}

void push_metrics__next(struct push_metrics *metrics)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < metrics->set.count; i++)
		metrics->gpus[i].busy_before = interval_set__length(&metrics->gpus[i].busy);
	for (uint32_t i = 0; i < metrics->series_count; i++)
		if (++metrics->series[i].silent <= FORGET_AFTER)
			metrics->series[kept++] = metrics->series[i];
	metrics->series_count = kept;
}

void push_metrics__free(struct push_metrics *metrics)
{
	if (!metrics)
		return;
	for (uint32_t i = 0; i < GPU_SET_MAX; i++)
		interval_set__free(&metrics->gpus[i].busy);
	free(metrics->series);
	free(metrics);
}
