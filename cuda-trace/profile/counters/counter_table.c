// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums of counted kernels. Launches of one kernel with different shapes are different work, so they
 * are kept apart.
 */
#include "cuda-trace/profile/counters/counter_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

/* Names come from the processes: a hostile one could make up as many as it likes. */
#define KERNELS 1000
#define METRICS 1000

struct counter_process *counter_table__process(struct counter_table *table, struct process *process)
{
	struct counter_process *to = process->data;

	if (to)
		return to;
	to = process->data = calloc(1, sizeof(*to));
	if (!to)
		return NULL;
	to->pid = process->pid;
	memcpy(to->comm, process->comm, sizeof(to->comm));
	to->next = table->processes;
	table->processes = to;
	return to;
}

/* NULL: no memory. */
static struct counter_metric *metric_of(struct counter_table *table, const char *name)
{
	struct counter_metric *metric;

	for (uint32_t i = 0; i < table->metric_count; i++)
		if (!strcmp(table->metrics[i]->name, name))
			return table->metrics[i];
	if (table->metric_count == METRICS ||
	    !array_grow__counted(table->metrics, table->metric_count))
		return NULL;
	metric = calloc(1, sizeof(*metric));
	if (!metric)
		return NULL;
	metric->name = strdup(name);
	metric->unit = strdup("");
	if (!metric->name || !metric->unit) {
		free(metric->name);
		free(metric->unit);
		free(metric);
		return NULL;
	}
	table->metrics[table->metric_count++] = metric;
	return metric;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

/* CUPTI reports the unit of the counter below; a rollup may change it. */
static void unit_of(const char *metric, const char *counter, char *unit, size_t size)
{
	const char *base = !strcmp(counter, "nanosecond") ? "ns" : counter;

	if (strstr(metric, ".pct"))
		snprintf(unit, size, "%%");
	else if (ends_with(metric, ".per_second"))
		snprintf(unit, size, "%s/s", base);
	else if (strstr(metric, ".per_cycle_") || strstr(metric, ".peak_sustained"))
		snprintf(unit, size, "%s/cycle", base);
	else
		snprintf(unit, size, "%s", base);
}

void counter_table__metric(struct counter_table *table, struct process *process,
			   const struct cuda_counters_metric *record)
{
	const char *name = process__name(process, record->metric);
	const char *counter = record->unit ? process__name(process, record->unit) : NULL;
	struct counter_metric *metric = name ? metric_of(table, name) : NULL;
	char unit[96], *copy;

	if (!metric || *metric->unit)
		return;
	unit_of(name, counter ? counter : "", unit, sizeof(unit));
	copy = strdup(unit);
	if (!copy)
		return;
	free(metric->unit);
	metric->unit = copy;
}

static void keep_name(struct process *process, uint32_t id, char *to, size_t size)
{
	const char *name = id ? process__name(process, id) : NULL;

	if (name)
		snprintf(to, size, "%s", name);
}

void counter_table__state(struct counter_table *table, struct process *process,
			  const struct cuda_counters_state *record)
{
	struct counter_process *to = counter_table__process(table, process);

	if (!to)
		return;
	to->state = *record;
	to->has_state = true;
	keep_name(process, record->chip, to->chip, sizeof(to->chip));
	keep_name(process, record->function, to->function, sizeof(to->function));
	keep_name(process, record->metric, to->metric, sizeof(to->metric));
}

void counter_table__device(struct counter_table *table, struct process *process,
			   const struct cuda_device *record)
{
	struct counter_process *to = counter_table__process(table, process);

	if (!to || record->device >= sizeof(to->devices) / sizeof(to->devices[0]))
		return;
	to->devices[record->device].capability = record->major * 10 + record->minor;
	to->devices[record->device].multiprocessors = record->multiprocessors;
}

static bool is_same(const struct counter_kernel *a, const struct counter_kernel *b)
{
	return !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
	       !memcmp(a->block, b->block, sizeof(a->block)) &&
	       a->dynamic_shared == b->dynamic_shared && !strcmp(a->name, b->name);
}

static struct counter_kernel *kernel_like(struct counter_table *table,
					  const struct counter_kernel *alone)
{
	struct counter_kernel *kernel;

	for (kernel = table->kernels; kernel; kernel = kernel->next)
		if (is_same(kernel, alone))
			return kernel;
	kernel = table->kernel_count < KERNELS ? calloc(1, sizeof(*kernel)) : NULL;
	if (!kernel)
		return NULL;
	*kernel = *alone;
	kernel->counted = 0;
	kernel->count = 0;
	kernel->sums = NULL;
	kernel->name = strdup(alone->name);
	if (!kernel->name) {
		free(kernel);
		return NULL;
	}
	kernel->next = table->kernels;
	table->kernels = kernel;
	table->kernel_count++;
	return kernel;
}

/* Where the launches have the same metrics, each is where it was before. */
static struct counter_sum *sum_of(struct counter_kernel *kernel, uint32_t at,
				  const struct counter_metric *metric)
{

	if (at < kernel->count && kernel->sums[at].metric == metric)
		return &kernel->sums[at];
	for (uint32_t i = 0; i < kernel->count; i++)
		if (kernel->sums[i].metric == metric)
			return &kernel->sums[i];
	if (!array_grow__counted(kernel->sums, kernel->count))
		return NULL;
	kernel->sums[kernel->count] = (struct counter_sum){metric, 0, INFINITY, -INFINITY, 0};
	return &kernel->sums[kernel->count++];
}

static void sum_up(struct counter_kernel *kernel, const struct counter_kernel *alone)
{
	kernel->counted++;
	/* A device's record may come after its first kernel. */
	if (!kernel->multiprocessors) {
		kernel->capability = alone->capability;
		kernel->multiprocessors = alone->multiprocessors;
	}
	for (uint32_t i = 0; i < alone->count; i++) {
		struct counter_sum *sum = sum_of(kernel, i, alone->sums[i].metric);
		double value = alone->sums[i].sum;

		if (!sum)
			continue;
		sum->count++;
		sum->sum += value;
		sum->least = fmin(sum->least, value);
		sum->most = fmax(sum->most, value);
	}
}

static void name_graph(struct counter_kernel *alone, uint32_t graph)
{
	static char name[24];

	alone->name = name;
	alone->is_graph = true;
	alone->graph = graph != CUDA_COUNTERS_SOME_GRAPH ? graph : 0;
	snprintf(name, sizeof(name), alone->graph ? "graph %u" : "graph", graph);
}

static void fill(struct counter_kernel *alone, struct process *process,
		 const struct counter_process *whose, const struct cuda_counters *record)
{
	uint32_t device = record->device % (sizeof(whose->devices) / sizeof(whose->devices[0]));
	struct counter_sum *sums = alone->sums;

	*alone = (struct counter_kernel){
		.name = (char *)process__pretty_name(process, record->name),
		.registers = record->registers,
		.static_shared = record->static_shared,
		.dynamic_shared = record->dynamic_shared,
		.capability = whose->devices[device].capability,
		.multiprocessors = whose->devices[device].multiprocessors,
		.counted = 1,
		.sums = sums,
	};
	memcpy(alone->grid, record->grid, sizeof(alone->grid));
	memcpy(alone->block, record->block, sizeof(alone->block));
	if (record->graph)
		name_graph(alone, record->graph);
}

bool counter_table__read(struct counter_table *table, struct process *process,
			 const struct cuda_counters *record, struct counter_kernel *alone)
{
	const struct cuda_counter *values = (const void *)(record + 1);
	struct counter_process *whose = counter_table__process(table, process);

	if (!whose || record->count > CUDA_COUNTERS_METRICS ||
	    record->head.size < sizeof(*record) + record->count * sizeof(*values))
		return false;
	fill(alone, process, whose, record);
	for (uint32_t i = 0; i < record->count; i++) {
		const char *name = process__name(process, values[i].metric);
		struct counter_metric *metric = name ? metric_of(table, name) : NULL;

		if (metric)
			alone->sums[alone->count++] = (struct counter_sum){
				metric, values[i].value, values[i].value, values[i].value, 1};
	}
	return true;
}

void counter_table__add(struct counter_table *table, const struct counter_kernel *alone)
{
	struct counter_kernel *kernel = kernel_like(table, alone);

	table->counted++;
	if (kernel)
		sum_up(kernel, alone);
	else
		table->unkept++;
}

void counter_table__forget_processes(struct counter_table *table)
{
	for (struct counter_process *process = table->processes; process; process = process->next)
		process->past = true;
}

uint32_t counter_table__lacks(const struct counter_table *table,
			      const struct counter_kernel *kernel)
{
	return table->by_turns ? table->metric_count - kernel->count : 0;
}

double counter_sum__mean(const struct counter_sum *sum)
{
	return sum->sum / sum->count;
}

static double total_time(const struct counter_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->count; i++)
		if (!strcmp(kernel->sums[i].metric->name, "gpu__time_duration.sum"))
			return counter_sum__mean(&kernel->sums[i]) * kernel->counted;
	return 0;
}

static bool comes_before(const struct counter_kernel *a, const struct counter_kernel *b)
{
	double longer = total_time(a) - total_time(b);

	return longer > 0 || (!(longer < 0) && strcmp(a->name, b->name) < 0);
}

void counter_table__sort(struct counter_table *table)
{
	struct counter_kernel *sorted = NULL, *next;

	for (struct counter_kernel *kernel = table->kernels; kernel; kernel = next) {
		struct counter_kernel **link = &sorted;

		next = kernel->next;
		while (*link && comes_before(*link, kernel))
			link = &(*link)->next;
		kernel->next = *link;
		*link = kernel;
	}
	table->kernels = sorted;
}

void counter_kernel__verdict(const struct counter_kernel *kernel, struct verdict_facts *facts,
			     struct verdict *verdict)
{
	verdict_facts__clear(facts);
	for (uint32_t i = 0; i < kernel->count; i++)
		verdict_facts__take(facts, kernel->sums[i].metric->name,
				    counter_sum__mean(&kernel->sums[i]));
	/* A launch has fewer than 2^63 blocks; what a hostile process says need not. */
	facts->blocks =
		(int64_t)fmin((double)kernel->grid[0] * kernel->grid[1] * kernel->grid[2], 1e18);
	facts->threads =
		(int64_t)fmin((double)kernel->block[0] * kernel->block[1] * kernel->block[2], 1e18);
	facts->registers = kernel->registers;
	facts->shared = (int64_t)kernel->static_shared + kernel->dynamic_shared;
	facts->capability = kernel->capability;
	/* Without the registers nobody knows how many blocks fit. */
	facts->multiprocessors = kernel->registers ? kernel->multiprocessors : 0;
	verdict__find(facts, verdict);
}

void counter_table__free(struct counter_table *table)
{
	while (table->kernels) {
		struct counter_kernel *kernel = table->kernels;

		table->kernels = kernel->next;
		free(kernel->name);
		free(kernel->sums);
		free(kernel);
	}
	while (table->processes) {
		struct counter_process *process = table->processes;

		table->processes = process->next;
		free(process);
	}
	for (uint32_t i = 0; i < table->metric_count; i++) {
		free(table->metrics[i]->name);
		free(table->metrics[i]->unit);
		free(table->metrics[i]);
	}
	free(table->metrics);
}
