// SPDX-License-Identifier: BSD-2-Clause
/*
 * The families: their names, units and texts, and where their values come from. The names are a
 * promise to dashboards and alerts; docs/reference/metrics.md lists them. Called under the
 * exporter's lock.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/metrics/metrics_device.h"
#include "cuda-trace/metrics/metrics_exporter.h"
#include "cuda-trace/metrics/metrics_failed.h"
#include "cuda-trace/metrics/metrics_sample.h"
#include "cuda-trace/metrics/metrics_self.h"
#include "cuda-trace/base/result_names.h"

/* One family of all label sets at a time, as both formats demand. */
struct pass {
	struct exposition *exposition;
	void (*write)(struct pass *pass, const struct series *series);
	size_t offset; /* what it means is up to write() */
	const struct bounds *bounds;
	bool estimated; /* samples say so in a label */
};

#define LABELS_MAX 1400 /* all labels at their longest, each byte escaped */

static const char *mark(const struct pass *pass, const char *labels, char out[LABELS_MAX])
{
	if (!pass->estimated)
		return labels;
	snprintf(out, LABELS_MAX, "%s" METRICS_ESTIMATED, labels);
	return out;
}

static void write_one(void *context, struct series *series)
{
	struct pass *pass = context;
	char marked[LABELS_MAX], *labels = series->text;

	if (series->labels.source == EVENT_SOURCE_AGENT)
		series->text = (char *)mark(pass, labels, marked); /* under the lock */
	pass->write(pass, series);
	series->text = labels;
}

static uint64_t field(const struct pass *pass, const struct series *series)
{
	return *(const uint64_t *)((const char *)series + pass->offset);
}

static void write_count(struct pass *pass, const struct series *series)
{
	if (field(pass, series))
		exposition__count(pass->exposition, series->text, field(pass, series),
				  series->created);
}

/* A zero is shown of those that launched, for all that a launch may become. */
static void write_launch_count(struct pass *pass, const struct series *series)
{
	if (field(pass, series) || series->sums.launches || series->sums.launch_errors)
		exposition__count(pass->exposition, series->text, field(pass, series),
				  series->created);
}

static void write_seconds(struct pass *pass, const struct series *series)
{
	if (field(pass, series))
		exposition__value(pass->exposition, series->text, field(pass, series) / 1e9,
				  series->created);
}

static void write_gauge(struct pass *pass, const struct series *series)
{
	if (series->peak_bytes)
		exposition__count(pass->exposition, series->text, field(pass, series), 0);
}

/* Which of the powers of two become buckets: fewer series, and each bound stays exact. */
struct bounds {
	int first, last, step;
	double unit;
	int power; /* of two, that is the unit, about: what native histograms need */
};

static const struct bounds ns_bounds = {10, 36, 2, 1e9, 30}; /* to 68.7 s; 2^29.9 ns are 1 s */
static const struct bounds block_bounds = {5, 10, 1, 1, 0};
static const struct bounds grid_bounds = {0, 24, 4, 1, 0};
static const struct bounds threads_bounds = {5, 29, 3, 1, 0};

static void put_histogram(struct exposition *exposition, const char *labels, double created,
			  const struct histogram *histogram, const struct bounds *bounds)
{
	double limits[AGGREGATE_BUCKETS];
	uint64_t cumulative[AGGREGATE_BUCKETS], below = 0;
	int count = 0, bucket = 0;

	if (!histogram->count)
		return;
	for (int bound = bounds->first; bound <= bounds->last; bound += bounds->step) {
		while (bucket <= bound)
			below += histogram->buckets[bucket++];
		limits[count] = (double)(1ull << bound) / bounds->unit;
		cumulative[count++] = below;
	}
	exposition__histogram(exposition, labels,
			      &(struct exposition_histogram){
				      .bounds = limits,
				      .cumulative = cumulative,
				      .count_of_bounds = count,
				      .count = histogram->count,
				      .sum = histogram->sum / bounds->unit,
				      .powers = histogram->buckets,
				      .power_count = AGGREGATE_BUCKETS,
				      .first_power = -bounds->power,
			      },
			      created);
}

static void write_histogram(struct pass *pass, const struct series *series)
{
	put_histogram(pass->exposition, series->text, series->created,
		      (const struct histogram *)((const char *)series + pass->offset),
		      pass->bounds);
}

/* The label set with one label more. */
static const char *with(char *out, size_t size, const struct series *series, const char *name,
			const char *value)
{
	snprintf(out, size, "%s,%s=\"%s\"", series->text, name, value);
	return out;
}

/* offset: of the field within the structure of one direction. */
static void write_copies(struct pass *pass, const struct series *series)
{
	char labels[LABELS_MAX];

	for (int direction = 0; direction < SUMS_DIRECTION_COUNT; direction++) {
		const char *sums = (const char *)&series->sums.copies[direction];

		if (series->sums.copies[direction].copies)
			exposition__count(pass->exposition,
					  with(labels, sizeof(labels), series, "direction",
					       sums__direction_label(direction)),
					  *(const uint64_t *)(sums + pass->offset),
					  series->created);
	}
}

static void write_copy_times(struct pass *pass, const struct series *series)
{
	char labels[LABELS_MAX];

	for (int direction = 0; direction < SUMS_DIRECTION_COUNT; direction++)
		put_histogram(pass->exposition,
			      with(labels, sizeof(labels), series, "direction",
				   sums__direction_label(direction)),
			      series->created, &series->sums.copies[direction].ns, pass->bounds);
}

static const char *const memory_kinds[SUMS_MEMORY_KINDS] = {
	"unknown", "pageable",	    "pinned",	      "device",	  "array",
	"managed", "device_static", "managed_static", "unknown8", "unknown9",
};

/* offset: of the field within the structure of one kind. */
static void write_memory(struct pass *pass, const struct series *series)
{
	char labels[LABELS_MAX];

	for (int kind = 0; kind < SUMS_MEMORY_KINDS; kind++) {
		const char *sums = (const char *)&series->sums.memory[kind];

		if (series->sums.memory[kind].allocations || series->sums.memory[kind].frees)
			exposition__count(
				pass->exposition,
				with(labels, sizeof(labels), series, "kind", memory_kinds[kind]),
				*(const uint64_t *)(sums + pass->offset), series->created);
	}
}

static void write_syncs(struct pass *pass, const struct series *series)
{
	static const char *const types[SUMS_SYNC_TYPES] = {"unknown", "event", "", "stream",
							   "context"};
	char labels[LABELS_MAX];

	/* When a stream waits for an event, the host does not. */
	for (int type = 0; type < SUMS_SYNC_TYPES; type++)
		if (type != SUMS_SYNC_STREAM_EVENT)
			put_histogram(pass->exposition,
				      with(labels, sizeof(labels), series, "type", types[type]),
				      series->created, &series->sums.syncs[type], pass->bounds);
}

static void write_errors(struct pass *pass, const struct series *series)
{
	for (int i = 0; i < SERIES_ERRORS && series->errors[i].count; i++) {
		const struct series_error *error = &series->errors[i];
		const char *name = result_names__name(error->domain, error->code);
		char labels[LABELS_MAX];

		if (error->domain)
			snprintf(labels, sizeof(labels), "%s,api=\"%s\",code=\"%d\",error=\"%s\"",
				 series->text,
				 error->domain == CUDA_DOMAIN_RUNTIME ? "runtime" : "driver",
				 error->code, name ? name : "unknown");
		else
			with(labels, sizeof(labels), series, "code", "other");
		exposition__count(pass->exposition, labels, error->count, series->created);
	}
	/* The last place is for all others, even while one before it is free. */
	if (series->errors[SERIES_ERRORS - 1].count && !series->errors[SERIES_ERRORS - 2].count) {
		char labels[LABELS_MAX];

		exposition__count(pass->exposition,
				  with(labels, sizeof(labels), series, "code", "other"),
				  series->errors[SERIES_ERRORS - 1].count, series->created);
	}
}

static void write_failed(struct pass *pass, const struct series *series)
{
	const struct sums *sums = &series->sums;
	bool uses = sums->failed[pass->offset];

	for (int i = 0; i < SUMS_MEMORY_KINDS; i++)
		uses = uses || sums->memory[i].allocations;
	if (uses)
		exposition__count(pass->exposition, series->text, sums->failed[pass->offset],
				  series->created);
}

/* counter numbers as in struct cuda_uvm */
static void put_uvm(struct pass *pass, const struct series *series, int counter, const char *name,
		    const char *value)
{
	char labels[LABELS_MAX];

	if (series->sums.uvm[counter])
		exposition__count(pass->exposition,
				  with(labels, sizeof(labels), series, name, value),
				  series->sums.uvm[counter], series->created);
}

static void write_migrations(struct pass *pass, const struct series *series)
{
	put_uvm(pass, series, 1, "direction", "h2d");
	put_uvm(pass, series, 2, "direction", "d2h");
	put_uvm(pass, series, 8, "direction", "d2d");
}

static void write_faults(struct pass *pass, const struct series *series)
{
	put_uvm(pass, series, 3, "processor", "cpu");
	put_uvm(pass, series, 4, "processor", "gpu");
}

static const char *const overhead_kinds[SUMS_OVERHEAD_KINDS] = {
	"driver_compiler", "buffer_flush", "instrumentation",	  "resources",
	"module_load",	   "lazy_load",	   "command_buffer_full", "buffer_request"};

/* offset: 0 = how often, else the time. */
static void write_overhead(struct pass *pass, const struct series *series)
{
	char labels[LABELS_MAX];

	for (int kind = 0; kind < SUMS_OVERHEAD_KINDS; kind++) {
		if (!series->sums.overheads[kind])
			continue;
		with(labels, sizeof(labels), series, "kind", overhead_kinds[kind]);
		if (pass->offset)
			exposition__value(pass->exposition, labels,
					  series->sums.overhead_ns[kind] / 1e9, series->created);
		else
			exposition__count(pass->exposition, labels, series->sums.overheads[kind],
					  series->created);
	}
}

#define SUM(field)    offsetof(struct series, sums.field)
#define COPIES(field) (offsetof(struct sums, copies[0].field) - offsetof(struct sums, copies[0]))
#define MEMORY(field) (offsetof(struct sums, memory[0].field) - offsetof(struct sums, memory[0]))

/* One row a family: how it is announced, how a label set is written, from where. */
static const struct family {
	struct metric metric;
	void (*write)(struct pass *pass, const struct series *series);
	size_t offset;
	const struct bounds *bounds;
} families[] = {
	{{METRIC_COUNTER, "cuda_kernel_launches", "", "Kernel launches that succeeded."},
	 write_launch_count,
	 SUM(launches),
	 NULL},
	{{METRIC_COUNTER, "cuda_kernel_launch_errors", "", "Kernel launches that failed."},
	 write_launch_count,
	 SUM(launch_errors),
	 NULL},
	{{METRIC_COUNTER, "cuda_kernel_launch_seconds", "seconds",
	  "Host time spent in launch calls that succeeded."},
	 write_seconds,
	 SUM(launch_ns),
	 NULL},
	{{METRIC_HISTOGRAM, "cuda_kernel_threads_per_block", "", "Threads per block of launches."},
	 write_histogram,
	 SUM(block_threads),
	 &block_bounds},
	{{METRIC_HISTOGRAM, "cuda_kernel_blocks_per_grid", "", "Blocks per grid of launches."},
	 write_histogram,
	 SUM(grid_blocks),
	 &grid_bounds},
	{{METRIC_HISTOGRAM, "cuda_kernel_threads_per_launch", "", "Threads of launches."},
	 write_histogram,
	 SUM(threads),
	 &threads_bounds},
	{{METRIC_COUNTER, "cuda_graph_launches", "", "Graph launches that succeeded."},
	 write_count,
	 SUM(graph_launches),
	 NULL},
	{{METRIC_COUNTER, "cuda_graph_launch_errors", "", "Graph launches that failed."},
	 write_count,
	 SUM(graph_errors),
	 NULL},
	{{METRIC_HISTOGRAM, "cuda_kernel_duration_seconds", "seconds",
	  "Time of kernels on the GPU, those of graphs included."},
	 write_histogram,
	 SUM(kernels),
	 &ns_bounds},
	{{METRIC_COUNTER, "cuda_gpu_busy_seconds", "seconds",
	  "Time in which at least one kernel of a process ran, summed over processes."},
	 write_seconds,
	 SUM(busy_ns),
	 NULL},
	{{METRIC_HISTOGRAM, "cuda_kernel_queue_seconds", "seconds",
	  "Time from the launch call to the start on the GPU, of one kernel in 256."},
	 write_histogram,
	 SUM(queue),
	 &ns_bounds},
	{{METRIC_COUNTER, "cuda_memcpy_copies", "", "Copies, by direction."},
	 write_copies,
	 COPIES(copies),
	 NULL},
	{{METRIC_COUNTER, "cuda_memcpy_bytes", "bytes", "Bytes copied, by direction."},
	 write_copies,
	 COPIES(bytes),
	 NULL},
	{{METRIC_HISTOGRAM, "cuda_memcpy_duration_seconds", "seconds",
	  "Time of copies, by direction."},
	 write_copy_times,
	 0,
	 &ns_bounds},
	{{METRIC_COUNTER, "cuda_memcpy_busy_seconds", "seconds",
	  "Time in which at least one copy of a process ran."},
	 write_seconds,
	 SUM(copies_busy_ns),
	 NULL},
	{{METRIC_COUNTER, "cuda_memset_operations", "", "Memsets on the GPU."},
	 write_count,
	 SUM(memsets),
	 NULL},
	{{METRIC_COUNTER, "cuda_memset_bytes", "bytes", "Bytes set."},
	 write_count,
	 SUM(memset_bytes),
	 NULL},
	{{METRIC_COUNTER, "cuda_memset_seconds", "seconds", "Time of memsets on the GPU."},
	 write_seconds,
	 SUM(memset_ns),
	 NULL},
	{{METRIC_COUNTER, "cuda_memory_allocations", "", "Allocations, by kind of memory."},
	 write_memory,
	 MEMORY(allocations),
	 NULL},
	{{METRIC_COUNTER, "cuda_memory_allocated_bytes", "bytes",
	  "Bytes allocated, by kind of memory."},
	 write_memory,
	 MEMORY(allocated),
	 NULL},
	{{METRIC_COUNTER, "cuda_memory_frees", "", "Frees, by kind of memory."},
	 write_memory,
	 MEMORY(frees),
	 NULL},
	{{METRIC_COUNTER, "cuda_memory_freed_bytes", "bytes", "Bytes freed, by kind of memory."},
	 write_memory,
	 MEMORY(freed),
	 NULL},
	{{METRIC_COUNTER, "cuda_memory_allocation_errors", "",
	  "Calls that allocate, free or map memory and failed."},
	 write_failed,
	 CUDA_GROUP_API_MEMORY,
	 NULL},
	{{METRIC_GAUGE, "cuda_memory_live_bytes", "bytes",
	  "Device and managed memory that is allocated now, of what was seen to be allocated."},
	 write_gauge,
	 offsetof(struct series, live_bytes),
	 NULL},
	{{METRIC_GAUGE, "cuda_memory_peak_bytes", "bytes",
	  "The most that the running processes had allocated at a time."},
	 write_gauge,
	 offsetof(struct series, peak_bytes),
	 NULL},
	{{METRIC_HISTOGRAM, "cuda_sync_wait_seconds", "seconds",
	  "Time that the host waited, by what it waited for."},
	 write_syncs,
	 0,
	 &ns_bounds},
	{{METRIC_COUNTER, "cuda_api_errors", "",
	  "Calls that returned an error, by API; a failed call of the runtime API counts under "
	  "both."},
	 write_errors,
	 0,
	 NULL},
	{{METRIC_COUNTER, "cuda_unified_memory_migrated_bytes", "bytes",
	  "Bytes of unified memory that migrated, by direction."},
	 write_migrations,
	 0,
	 NULL},
	{{METRIC_COUNTER, "cuda_unified_memory_page_faults", "",
	  "Page faults of unified memory, by processor."},
	 write_faults,
	 0,
	 NULL},
	{{METRIC_COUNTER, "cuda_overheads", "",
	  "How often CUPTI and the driver spent time on their own, by kind: compilations, module "
	  "loads."},
	 write_overhead,
	 0,
	 NULL},
	{{METRIC_COUNTER, "cuda_overhead_seconds", "seconds",
	  "Time that CUPTI and the driver spent on their own, by kind."},
	 write_overhead,
	 1,
	 NULL},
	{{METRIC_COUNTER, "cuda_records_without_time", "",
	  "Operations on the GPU whose times were not valid: counted, in no duration."},
	 write_count,
	 SUM(invalid),
	 NULL},
};

static const struct metric kernel_seconds = {
	METRIC_COUNTER, "cuda_kernel_name_seconds", "seconds",
	"Time on the GPU by kernel: those that take the most have their name."};
static const struct metric kernel_executions = {METRIC_COUNTER, "cuda_kernel_name_executions", "",
						"Executions on the GPU by kernel."};

static void put_kernel_seconds(void *context, const char *labels, const struct kernel_sums *sums)
{
	const struct pass *pass = context;
	char marked[LABELS_MAX];

	exposition__value(pass->exposition, mark(pass, labels, marked), sums->ns / 1e9,
			  sums->created);
}

static void put_kernel_executions(void *context, const char *labels, const struct kernel_sums *sums)
{
	const struct pass *pass = context;
	char marked[LABELS_MAX];

	exposition__count(pass->exposition, mark(pass, labels, marked), sums->count, sums->created);
}

/* offset: 0 = how often, else the time. */
static void put_unnamed(struct pass *pass, const struct series *series)
{
	char labels[LABELS_MAX];

	if (!series->unnamed_count)
		return;
	with(labels, sizeof(labels), series, "kernel", "other");
	if (pass->offset)
		exposition__value(pass->exposition, labels, series->unnamed_ns / 1e9,
				  series->created);
	else
		exposition__count(pass->exposition, labels, series->unnamed_count, series->created);
}

static void write_kernels(struct exposition *exposition, struct exporter_view *view)
{
	struct pass pass = {.exposition = exposition,
			    .write = put_unnamed,
			    .offset = 1,
			    .estimated = view->sample_on_ms != 0};

	if (!view->kernels)
		return;
	exposition__family(exposition, &kernel_seconds);
	kernels__each(view->kernels, put_kernel_seconds, &pass);
	series_table__each(view->series, write_one, &pass);
	exposition__family(exposition, &kernel_executions);
	kernels__each(view->kernels, put_kernel_executions, &pass);
	pass.offset = 0;
	series_table__each(view->series, write_one, &pass);
}

void families__write(struct exposition *exposition, struct exporter_view *view)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		struct pass pass = {
			.exposition = exposition,
			.write = families[i].write,
			.offset = families[i].offset,
			.bounds = families[i].bounds,
			.estimated = metrics_sample__estimates(view, families[i].metric.name),
		};

		exposition__family(exposition, &families[i].metric);
		series_table__each(view->series, write_one, &pass);
	}
	failed_calls__write(exposition, view);
	write_kernels(exposition, view);
	metrics_sample__write(exposition, view);
	device_metrics__write(exposition, view->counters);
	self__write(exposition, view);
}
