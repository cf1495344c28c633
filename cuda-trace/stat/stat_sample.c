// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernels are scaled by calls: the host counted every launch, the sample gives each one's mean
 * time. Copies are scaled by time, because no count of the host's equals that of their records.
 * Called by stat_table.c on the tool's one thread; bounded.
 */
#include "cuda-trace/stat/stat_sample.h"

#include <stdlib.h>
#include "cuda-trace/stat/stat_table.h"

#define MS	  1000000ull
#define SEEN	  16384 /* power of 2: graph launches that are distinguished */
#define SQUARE(x) ((x) * (x))

struct stat_sample {
	struct estimate_sums copies[STAT_MAX_COPIES]; /* count and ns */
	struct estimate_sums bytes[STAT_MAX_COPIES];
	uint64_t graph_launches; /* of which kernels came */
	uint32_t *seen;		 /* their correlations, by the lowest bits */
};

struct stat_sample *stat_sample__new(void)
{
	return calloc(1, sizeof(struct stat_sample));
}

void stat_sample__free(struct stat_sample *sample)
{
	if (sample)
		free(sample->seen);
	free(sample);
}

/* Which window a record belongs to, nearly: a late one may count for the next. */
static uint64_t window_of(const struct process *process, uint64_t start)
{
	const struct cuda_status *status = &process->status;
	uint64_t every = (status->sample_every_ms ? status->sample_every_ms : 1000) * MS;

	return start > status->sample_start ? (start - status->sample_start) / every + 1 : 0;
}

/* All kernels of a graph launch have its correlation. */
static void count_graph_launch(struct stat_sample *sample, uint32_t correlation)
{
	uint32_t *seen;

	if (!sample->seen)
		sample->seen = calloc(SEEN, sizeof(*sample->seen));
	if (!sample->seen)
		return;
	seen = &sample->seen[correlation % SEEN];
	sample->graph_launches += *seen != correlation;
	*seen = correlation;
}

void stat_sample__kernel(struct stat_sample *sample, const struct process *process,
			 struct stat_sampled **of, const struct cuda_kernel *kernel)
{
	uint64_t ns = kernel->end > kernel->start ? kernel->end - kernel->start : 0;

	if (!*of)
		*of = calloc(1, sizeof(**of));
	if (!*of)
		return;
	if (kernel->graph)
		count_graph_launch(sample, kernel->head.correlation);
	cluster_estimate__add(kernel->graph ? &(*of)->graph : &(*of)->plain,
			      window_of(process, kernel->start), 1, ns);
}

void stat_sample__copy(struct stat_sample *sample, const struct process *process, int line,
		       const struct cuda_record *record)
{
	const struct cuda_memcpy *copy = (const void *)record;
	const struct cuda_memset *set = (const void *)record;
	bool is_copy = record->kind == CUDA_RECORD_MEMCPY;
	/* Both begin alike. */
	uint64_t window = window_of(process, copy->start);
	uint64_t ns = copy->end > copy->start ? copy->end - copy->start : 0;
	double count = is_copy && copy->copies ? copy->copies : 1;

	cluster_estimate__add(&sample->copies[line], window, count, ns);
	cluster_estimate__add(&sample->bytes[line], window, count,
			      is_copy ? copy->bytes : set->bytes);
}

void stat_sample__estimate(const struct stat_sample *sample, const struct stat_sampled *of,
			   uint64_t graph_launches, struct stat_kernel *kernel)
{
	static const struct stat_sampled none;
	uint64_t launched = kernel->launches - kernel->launch_errors;
	double graphs =
		sample->graph_launches ? (double)graph_launches / sample->graph_launches : 0;
	struct estimate plain, graph;

	of = of ? of : &none;
	/* Fewer launches than kernels: some were made before anybody looked. */
	if (launched < of->plain.count)
		launched = of->plain.count;
	graphs = graphs < 1 ? 1 : graphs;
	plain = cluster_estimate__ratio(&of->plain, launched);
	graph = cluster_estimate__ratio(&of->graph, of->graph.count * graphs);
	kernel->sampled = kernel->count;
	kernel->unsampled = of->plain.count > 0 ? 0 : launched;
	/* Of a kernel of which none came only the launches are known. */
	kernel->count = (kernel->unsampled ? 0 : launched) + of->graph.count * graphs + 0.5;
	kernel->total_ns = plain.value + graph.value + 0.5;
	kernel->error2 = SQUARE(plain.error) + SQUARE(graph.error);
}

void stat_sample__windows(const struct process *process, struct stat_windows *windows)
{
	const struct cuda_status *status = &process->status;

	*windows = (struct stat_windows){
		.on_ms = status->sample_on_ms,
		.every_ms = status->sample_every_ms,
		.windows = status->sample_windows,
		.open_ns = status->sample_open_ns,
	};
	if (status->sample_start && status->time > status->sample_start)
		windows->watched_ns = status->time - status->sample_start;
	if (windows->open_ns > windows->watched_ns)
		windows->open_ns = windows->watched_ns;
}

void stat_sample__estimate_copies(const struct stat_sample *sample, const struct process *process,
				  struct stat_events *events)
{
	struct stat_windows windows;
	double share;

	stat_sample__windows(process, &windows);
	share = windows.watched_ns ? (double)windows.open_ns / windows.watched_ns : 0;
	events->memcpys = events->memcpy_bytes = events->memsets = 0;
	for (uint32_t i = 0; i < events->copy_count; i++) {
		struct stat_copy *copy = &events->copies[i];
		struct estimate count, ns, bytes;

		count = cluster_estimate__count(&sample->copies[i], share, windows.windows);
		ns = cluster_estimate__sum(&sample->copies[i], share, windows.windows);
		bytes = cluster_estimate__sum(&sample->bytes[i], share, windows.windows);
		copy->sampled = copy->span.count;
		copy->span.count = count.value + 0.5;
		copy->span.total_ns = ns.value + 0.5;
		copy->bytes = bytes.value + 0.5;
		copy->count_error2 = SQUARE(count.error);
		copy->ns_error2 = SQUARE(ns.error);
		copy->bytes_error2 = SQUARE(bytes.error);
		if (copy->kind == 255) {
			events->memsets += copy->span.count;
		} else {
			events->memcpys += copy->span.count;
			events->memcpy_bytes += copy->bytes;
		}
	}
}

void stat_sample__add_windows(const struct process *process, struct stat_windows *sum)
{
	struct stat_windows windows;

	stat_sample__windows(process, &windows);
	if (!windows.on_ms)
		return;
	sum->on_ms = windows.on_ms;
	sum->every_ms = windows.every_ms;
	sum->windows += windows.windows;
	sum->open_ns += windows.open_ns;
	sum->watched_ns += windows.watched_ns;
}
