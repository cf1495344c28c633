// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything but kernels and launches. Called for each record on the tool's one thread; bounded.
 */
#include "cuda-trace/stat/stat_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/stat/stat_heap.h"

void stat_span__add(struct stat_span *span, uint64_t ns)
{
	if (!span->count || ns < span->min_ns)
		span->min_ns = ns;
	if (ns > span->max_ns)
		span->max_ns = ns;
	span->count++;
	span->total_ns += ns;
}

void stat_span__merge(struct stat_span *to, const struct stat_span *from)
{
	if (!from->count)
		return;
	if (!to->count || from->min_ns < to->min_ns)
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	to->count += from->count;
	to->total_ns += from->total_ns;
}

static uint64_t length(uint64_t start, uint64_t end)
{
	return end > start ? end - start : 0;
}

static struct stat_copy *copy_line(struct stat_events *events, uint8_t kind, uint8_t from,
				   uint8_t to)
{
	struct stat_copy *line = events->copies;

	for (uint32_t i = 0; i < events->copy_count; i++, line++)
		if (line->kind == kind && line->from == from && line->to == to)
			return line;
	if (events->copy_count == STAT_MAX_COPIES)
		return &events->copies[STAT_MAX_COPIES - 1];
	*line = (struct stat_copy){.kind = kind, .from = from, .to = to};
	if (++events->copy_count == STAT_MAX_COPIES)
		*line = (struct stat_copy){.kind = STAT_COPY_OTHERS};
	return line;
}

int stat_events__copy_line(struct stat_events *events, const struct cuda_record *record)
{
	const struct cuda_memcpy *copy = (const void *)record;
	const struct cuda_memset *set = (const void *)record;

	if (record->kind == CUDA_RECORD_MEMCPY)
		return copy_line(events, copy->copy_kind, copy->src_kind, copy->dst_kind) -
		       events->copies;
	if (record->kind == CUDA_RECORD_MEMSET)
		return copy_line(events, STAT_COPY_SET, 0, set->memory_kind) - events->copies;
	return -1;
}

static void add_memcpy(struct stat_events *events, const struct process *process,
		       const struct cuda_memcpy *copy)
{
	struct stat_copy *line = copy_line(events, copy->copy_kind, copy->src_kind, copy->dst_kind);
	uint32_t copies = copy->copies ? copy->copies : 1;

	/* At the driver it is the call that is timed, not the copy. */
	stat_span__add(&line->span,
		       process->source == EVENT_SOURCE_DRIVER ? 0 : length(copy->start, copy->end));
	line->span.count += copies - 1;
	line->bytes += copy->bytes;
	events->memcpys += copies;
	events->memcpy_bytes += copy->bytes;
}

static void add_memset(struct stat_events *events, const struct cuda_memset *set)
{
	struct stat_copy *line = copy_line(events, STAT_COPY_SET, 0, set->memory_kind);

	stat_span__add(&line->span, length(set->start, set->end));
	line->bytes += set->bytes;
	events->memsets++;
}

static void add_sync(struct stat_events *events, const struct cuda_sync *sync)
{
	uint64_t ns = length(sync->start, sync->end);
	int type = sync->type < STAT_SYNC_TYPES ? sync->type : 0;

	stat_span__add(&events->syncs[type], ns);
	/* A stream that waits for an event (type 2) holds up no host thread. */
	if (type == 2)
		return;
	events->waits++;
	events->wait_ns += ns;
}

/* Line `at`, which may be the next free one: the last one goes by another name. NULL: no memory. */
static struct stat_range *range_line(struct stat_events *events, uint32_t at,
				     const struct stat_range *key)
{
	if (!events->ranges)
		events->ranges = calloc(STAT_MAX_RANGES, sizeof(*events->ranges));
	if (!events->ranges)
		return NULL;
	if (at < events->range_count)
		return &events->ranges[at];
	if (at == STAT_MAX_RANGES)
		return &events->ranges[STAT_MAX_RANGES - 1];
	events->range_count++;
	events->ranges[at] = *key;
	if (events->range_count == STAT_MAX_RANGES)
		events->ranges[at] =
			(struct stat_range){.name = STAT_NAME_OTHERS, .text = "[other ranges]"};
	return &events->ranges[at];
}

static void add_range(struct stat_events *events, const struct cuda_nvtx *range)
{
	const struct stat_range key = {.name = range->text};
	struct stat_range *line;
	uint32_t at = 0;

	if (range->kind == 1)
		return;
	while (at < events->range_count && events->ranges[at].name != range->text)
		at++;
	line = range_line(events, at, &key);
	if (line)
		stat_span__add(&line->span, length(range->start, range->end));
}

static void add_uvm(struct stat_events *events, const struct cuda_uvm *uvm)
{
	uint32_t counter = uvm->counter < STAT_UVM_COUNTERS ? uvm->counter : 0;

	events->uvm[counter] += uvm->value;
	stat_span__add(&events->uvm_spans[counter], length(uvm->start, uvm->end));
}

bool stat_events__record(struct stat_events *events, struct stat_heap *heap,
			 const struct process *process, const struct cuda_record *record)
{
	const struct cuda_overhead *overhead = (const void *)record;
	const struct cuda_graph *graph = (const void *)record;
	const struct cuda_api *call = (const void *)record;
	const struct cuda_jit *jit = (const void *)record;

	switch (record->kind) {
	case CUDA_RECORD_MEMCPY:
		add_memcpy(events, process, (const void *)record);
		return true;
	case CUDA_RECORD_MEMSET:
		add_memset(events, (const void *)record);
		return true;
	case CUDA_RECORD_MEMORY:
		stat_heap__record(heap, events, (const void *)record);
		return true;
	case CUDA_RECORD_SYNC:
		add_sync(events, (const void *)record);
		return true;
	case CUDA_RECORD_GRAPH:
		stat_span__add(&events->graphs, length(graph->start, graph->end));
		return true;
	case CUDA_RECORD_GRAPH_INSTANTIATE:
		stat_span__add(&events->instantiations, length(call->start, call->end));
		return true;
	case CUDA_RECORD_OVERHEAD:
		stat_span__add(&events->overhead[stat_events__overhead_index(overhead->kind)],
			       length(overhead->start, overhead->end));
		return true;
	case CUDA_RECORD_JIT:
		stat_span__add(&events->jit[jit->operation < STAT_JIT_KINDS ? jit->operation : 0],
			       length(jit->start, jit->end));
		return true;
	case CUDA_RECORD_UVM:
		add_uvm(events, (const void *)record);
		return true;
	case CUDA_RECORD_NVTX:
		add_range(events, (const void *)record);
		return true;
	default:
		return false;
	}
}

static void merge_ranges(struct stat_events *sum, const struct stat_events *of,
			 struct process *process)
{
	for (uint32_t i = 0; i < of->range_count; i++) {
		const struct stat_range *range = &of->ranges[i];
		const char *name = *range->text ? range->text : process__name(process, range->name);
		struct stat_range key = {}, *line;
		uint32_t at = 0;

		snprintf(key.text, sizeof(key.text), "%s", name ? name : "[no name]");
		while (at < sum->range_count && strcmp(sum->ranges[at].text, key.text))
			at++;
		line = range_line(sum, at, &key);
		if (line)
			stat_span__merge(&line->span, &range->span);
	}
}

void stat_events__merge(struct stat_events *sum, struct stat_events *of, struct process *process)
{
	for (uint32_t i = 0; i < of->copy_count; i++) {
		const struct stat_copy *copy = &of->copies[i];
		struct stat_copy *line = copy_line(sum, copy->kind, copy->from, copy->to);

		stat_span__merge(&line->span, &copy->span);
		line->bytes += copy->bytes;
		line->sampled += copy->sampled;
		line->count_error2 += copy->count_error2;
		line->bytes_error2 += copy->bytes_error2;
		line->ns_error2 += copy->ns_error2;
	}
	for (int i = 0; i < STAT_SYNC_TYPES; i++)
		stat_span__merge(&sum->syncs[i], &of->syncs[i]);
	for (int i = 0; i < 9; i++)
		stat_span__merge(&sum->overhead[i], &of->overhead[i]);
	for (int i = 0; i < STAT_JIT_KINDS; i++)
		stat_span__merge(&sum->jit[i], &of->jit[i]);
	for (int i = 0; i < STAT_UVM_COUNTERS; i++) {
		sum->uvm[i] += of->uvm[i];
		stat_span__merge(&sum->uvm_spans[i], &of->uvm_spans[i]);
	}
	stat_span__merge(&sum->graphs, &of->graphs);
	stat_span__merge(&sum->instantiations, &of->instantiations);
	stat_errors__merge(&sum->errors, &of->errors, process);
	merge_ranges(sum, of, process);
	sum->memcpys += of->memcpys;
	sum->memcpy_bytes += of->memcpy_bytes;
	sum->memsets += of->memsets;
	sum->allocs += of->allocs;
	sum->frees += of->frees;
	sum->live_bytes += of->live_bytes;
	sum->waits += of->waits;
	sum->wait_ns += of->wait_ns;
	sum->untracked += of->untracked;
}

void stat_events__free(struct stat_events *events)
{
	free(events->errors.lines);
	free(events->errors.recent);
	free(events->ranges);
}
