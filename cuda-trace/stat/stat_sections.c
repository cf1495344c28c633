// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: copies, memory, waits, calls, graphs, errors, ranges, unified memory and overhead.
 */
#include "cuda-trace/stat/stat_sections.h"

#include <inttypes.h>
#include <math.h>
#include "cuda-trace/base/call_arguments.h"
#include "cuda-trace/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void stat_sections__span(struct sheet *sheet, const struct stat_span *span, const int places[5],
			 bool known)
{
	uint64_t mean = span->count ? span->total_ns / span->count : 0;

	known |= sheet->json;
	sheet__column(sheet, places[0], "COUNT", 11, "count", cell_count(span->count));
	sheet__column(sheet, places[1], "TOTAL", 8, "total_ns",
		      cell_if(known, cell_ns(span->total_ns)));
	sheet__column(sheet, places[2], "MEAN", 8, "mean_ns", cell_if(known, cell_ns(mean)));
	sheet__column(sheet, places[3], "MIN", 8, "min_ns", cell_if(known, cell_ns(span->min_ns)));
	sheet__column(sheet, places[4], "MAX", 8, "max_ns", cell_if(known, cell_ns(span->max_ns)));
}

/* Copies that were seen at the driver have no GPU time. */
static void put_copy(struct sheet *sheet, const struct stat_copy *copy, bool estimated)
{
	uint64_t ns = copy->span.total_ns;
	bool set = copy->kind == STAT_COPY_SET;

	stat_sections__span(sheet, &copy->span, (const int[]){3, 5, 6, -1, 7}, ns);
	sheet__column(sheet, 0, "DIRECTION", -9, "direction",
		      cell_text(stat_events__copy_key(copy->kind)));
	sheet__column(sheet, 1, "FROM", -8, set ? NULL : "from",
		      cell_if(!set, cell_text(stat_events__memory_key(copy->from))));
	sheet__column(sheet, 2, "TO", -8, "to", cell_text(stat_events__memory_key(copy->to)));
	sheet__column(sheet, 4, "BYTES", 11, "bytes", cell_bytes(copy->bytes));
	sheet__column(sheet, 8, "THROUGHPUT", 0, "bytes_per_second",
		      cell_if(ns, cell_rate(copy->bytes * 1e9 / ns)));
	sheet__put(sheet, "estimated", cell_bool(estimated));
	if (!estimated)
		return;
	sheet__put(sheet, "count_error", cell_number(sqrt(copy->count_error2)));
	sheet__put(sheet, "bytes_error", cell_number(sqrt(copy->bytes_error2)));
	sheet__put(sheet, "total_ns_error", cell_number(sqrt(copy->ns_error2)));
	sheet__put(sheet, "sampled", cell_number(copy->sampled));
}

void stat_sections__copies(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_events *events = &report->table->events;
	bool sampled = report->table->copies_sampled;

	sheet__begin(sheet, "copies", sampled ? "\nCopies, estimated" : "\nCopies", UINT64_MAX);
	for (uint32_t i = 0; i < events->copy_count; i++) {
		sheet__row(sheet, NULL);
		put_copy(sheet, &events->copies[i], sampled);
		sheet__row_end(sheet);
	}
	sheet__end(sheet);
}

static void put_memory(struct sheet *sheet, const struct stat_memory *line)
{
	sheet__column(sheet, 0, "PID", 8, "pid",
		      cell_if(line->pid || !sheet->json, cell_number(line->pid)));
	sheet__column(sheet, 1, "PROCESS", -15, "process", cell_text(line->comm));
	sheet__column(sheet, 2, "GPU", 3, "device",
		      cell_if(line->device != UINT32_MAX, cell_number(line->device)));
	sheet__column(sheet, 3, "KIND", -8, "kind", cell_text(stat_events__memory_key(line->kind)));
	sheet__column(sheet, 4, "ALLOCS", 9, "allocs", cell_count(line->allocs));
	sheet__column(sheet, 6, "FREES", 9, "frees", cell_count(line->frees));
	sheet__column(sheet, 5, "BYTES", 11, "bytes", cell_bytes(line->bytes));
	sheet__column(sheet, 7, "PEAK", 11, "peak_bytes", cell_bytes(line->peak_bytes));
	sheet__column(sheet, 8, "STILL HELD", 11, "live_bytes", cell_bytes(line->live_bytes));
	sheet__put(sheet, "live_count", cell_number(line->live_count));
}

void stat_sections__memory(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	char untracked[32];

	sheet__begin(sheet, "memory", "\nMemory", report->most_kernels);
	for (uint32_t i = 0; i < table->memory_count; i++) {
		if (!sheet__row(sheet, NULL))
			continue;
		put_memory(sheet, &table->memory[i]);
		sheet__row_end(sheet);
	}
	sheet__end(sheet);
	sheet__say_more(sheet);
	if (table->totals.untracked)
		sheet__say(sheet,
			   " %s allocations were too many to keep track of: they are in neither "
			   "PEAK nor STILL HELD\n",
			   text__count(untracked, table->totals.untracked));
}

/* `column`: the name stands in a row's object, too; else the object has it as its key. */
static void put_span(struct sheet *sheet, const char *name, const char *column,
		     const struct stat_span *span)
{
	sheet__row(sheet, column ? NULL : name);
	stat_sections__span(sheet, span, (const int[]){1, 2, 3, 4, 5}, true);
	sheet__column(sheet, 0, "KIND", -24, column, cell_text(name));
	sheet__row_end(sheet);
}

void stat_sections__syncs(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_span *syncs = report->table->events.syncs;

	sheet__begin(sheet, "syncs", "\nWaits", UINT64_MAX);
	for (int i = 0; i < STAT_SYNC_TYPES; i++)
		if (syncs[i].count)
			put_span(sheet, stat_events__sync_key(i), "kind", &syncs[i]);
	sheet__end(sheet);
}

void stat_sections__nvtx(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_events *events = &report->table->events;

	sheet__begin(sheet, "ranges", "\nNVTX ranges", UINT64_MAX);
	for (uint32_t i = 0; i < events->range_count; i++)
		if (events->ranges[i].span.count || sheet->json)
			put_span(sheet, events->ranges[i].text, "name", &events->ranges[i].span);
	sheet__end(sheet);
}

static void put_spans(struct sheet *sheet, const char *key, const char *title,
		      const char *(*name)(int), const struct stat_span *spans, int count)
{
	sheet__title(sheet, title, UINT64_MAX);
	sheet__open(sheet, key, '{');
	for (int i = 0; i < count; i++)
		if (spans[i].count)
			put_span(sheet, name(i), NULL, &spans[i]);
	sheet__close(sheet);
}

void stat_sections__overhead(struct sheet *sheet, const struct stat_report *report)
{
	put_spans(sheet, "overhead", "\nOverhead of CUPTI and the driver",
		  stat_events__overhead_key, report->table->events.overhead, 9);
}

void stat_sections__jit(struct sheet *sheet, const struct stat_report *report)
{
	put_spans(sheet, "jit", "\nCompilation at run time (JIT)", stat_events__jit_key,
		  report->table->events.jit, STAT_JIT_KINDS);
}

void stat_sections__graphs(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_events *events = &report->table->events;

	sheet__title(sheet, "\nGraphs on the GPU, as a whole", 1);
	if (events->graphs.count || sheet->json)
		put_span(sheet, sheet->json ? "graphs" : "graph", NULL, &events->graphs);
	sheet__title(sheet, "\nGraphs made ready by the host", 1);
	if (events->instantiations.count || sheet->json)
		put_span(sheet, sheet->json ? "graph_instantiations" : "instantiation", NULL,
			 &events->instantiations);
}

/* Driver calls stand under the runtime call that made them, and are part of its time. */
static void put_call(struct sheet *sheet, const struct stat_call *call, uint64_t host_ns)
{
	char name[sizeof(call->name) + 2];

	stat_sections__span(sheet, &call->span, (const int[]){3, 1, 4, -1, 5}, true);
	snprintf(name, sizeof(name), "%s%s", *call->parent ? "  " : "", call->name);
	sheet__column(sheet, 7, "CALL", 0, NULL, cell_text(name));
	sheet__put(sheet, "call", cell_text(call->name));
	sheet__put(sheet, "parent", cell_if(*call->parent, cell_text(call->parent)));
	sheet__put(sheet, "domain",
		   cell_text(call->domain == CUDA_DOMAIN_RUNTIME ? "runtime" : "driver"));
	sheet__column(sheet, 6, "FAILED", 8, "failed", cell_count(call->failed));
	sheet__column(sheet, 2, "OWN", 8, "own_ns", cell_ns(call->own_ns));
	sheet__column(sheet, 0, "SHARE", 6, "share",
		      cell_share(host_ns ? (double)call->span.total_ns / host_ns : 0));
}

void stat_sections__calls(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_calls *calls = report->calls;
	char title[96], host[16];

	if (!calls) {
		sheet__put(sheet, "api", cell_none);
		return;
	}
	snprintf(title, sizeof(title),
		 "\nCalls of the CUDA API (%s of the host's time, all threads)",
		 text__ns(host, calls->host_ns));
	sheet__open(sheet, "api", '{');
	sheet__put(sheet, "host_ns", cell_number(calls->host_ns));
	sheet__begin(sheet, "calls", title, report->most_kernels);
	for (uint32_t i = 0; i < calls->count; i++) {
		if (!sheet__row(sheet, NULL))
			break;
		put_call(sheet, &calls->lines[i], calls->host_ns);
		sheet__row_end(sheet);
	}
	sheet__end(sheet);
	sheet__close(sheet);
}

static void put_requested_launch(struct sheet *sheet, const struct stat_error *error)
{
	const struct cuda_api *call = &error->last;

	if (*error->kernel)
		sheet__put(sheet, "kernel", cell_text(error->kernel));
	if (!call_arguments__has_grid(call))
		return;
	sheet__put(sheet, "grid", cell_triple(call->arguments.launch.grid));
	sheet__put(sheet, "block", cell_triple(call->arguments.launch.block));
	sheet__put(sheet, "dynamic_shared", cell_number(call->arguments.launch.dynamic_shared));
}

/* By the keys that `trace` has for them. */
static void put_requested(struct sheet *sheet, const struct stat_error *error)
{
	const struct cuda_api *call = &error->last;
	char address[24];

	if (call->flags & CUDA_API_LAUNCH) {
		put_requested_launch(sheet, error);
		return;
	}
	snprintf(address, sizeof(address), "0x%" PRIx64, (uint64_t)call->arguments.call.address);
	if (call->flags & CUDA_API_BYTES)
		sheet__put(sheet, "bytes", cell_number(call->arguments.call.bytes));
	if (call->flags & CUDA_API_COPY_KIND)
		sheet__put(sheet, "direction",
			   cell_text(stat_events__copy_key(call->arguments.call.copy_kind)));
	if (call->flags & CUDA_API_VALUE)
		sheet__put(sheet, "value", cell_number(call->arguments.call.value));
	if (call->flags & CUDA_API_DEVICE)
		sheet__put(sheet, "device", cell_signed((int32_t)call->arguments.call.device));
	if (call->flags & CUDA_API_ADDRESS)
		sheet__put(sheet, "address", cell_text(address));
}

static bool is_requested_known(const struct stat_error *error)
{
	if (error->last.flags & CUDA_API_LAUNCH)
		return *error->kernel || call_arguments__has_grid(&error->last);
	return error->last.flags & (CUDA_API_BYTES | CUDA_API_COPY_KIND | CUDA_API_VALUE |
				    CUDA_API_DEVICE | CUDA_API_ADDRESS);
}

static void put_error(struct sheet *sheet, const struct stat_error *error)
{
	char last[256], shown[4 * sizeof(last) + 4];

	sheet__row(sheet, NULL);
	sheet__column(sheet, 1, "CALL", -32, "call", cell_text(error->text));
	sheet__column(sheet, 2, "CODE", 5, "result",
		      cell_if(error->result, cell_signed(error->result)));
	sheet__column(sheet, 3, "RESULT", 0, "result_name", cell_text(stat_errors__result(error)));
	sheet__column(sheet, 0, "COUNT", 11, "count", cell_count(error->count));
	if (is_requested_known(error)) {
		sheet__open(sheet, "last", '{');
		if (sheet->json)
			put_requested(sheet, error);
		sheet__close(sheet);
	}
	sheet__row_end(sheet);
	call_arguments__text(last, sizeof(last), &error->last, error->kernel);
	if (*last)
		sheet__say(sheet, "%14slast: %s\n", "", text__show(shown, sizeof(shown), last, 0));
}

void stat_sections__errors(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_errors *errors = &report->table->events.errors;
	const struct stat_error *error;

	sheet__begin(sheet, "errors", "\nFailed calls", UINT64_MAX);
	for (uint32_t i = 0; (error = stat_errors__next(errors, &i));)
		put_error(sheet, error);
	sheet__end(sheet);
}

/* Of faults the value is how many there were; of all else, bytes. */
static void put_uvm(struct sheet *sheet, struct stat_span span, int counter, uint64_t value)
{
	static const char *const names[STAT_UVM_COUNTERS] = {
		"unknown",	    "migrations HtoD",	"migrations DtoH",
		"page faults, CPU", "page faults, GPU", "thrashing",
		"throttling",	    "remote mappings",	"migrations DtoD"};
	bool faults = counter == 3 || counter == 4;
	bool bytes = !faults && counter != 6 && counter;

	/* Of a fault on the host CUPTI knows the moment alone. */
	if (counter == 3)
		span.total_ns = 0;
	sheet__row(sheet, NULL);
	sheet__column(sheet, 0, "KIND", -24, NULL, cell_text(names[counter]));
	stat_sections__span(sheet, &span, (const int[]){1, 3, 4, -1, 5}, span.total_ns);
	if (faults)
		sheet__column(sheet, 1, "COUNT", 11, NULL, cell_count(value));
	if (sheet->json)
		sheet__put(sheet, "direction", cell_text(names[counter] + sizeof("migrations")));
	sheet__column(sheet, 2, "BYTES", 11, "bytes", cell_if(bytes, cell_bytes(value)));
	sheet__row_end(sheet);
}

/* The values by counter, as CUPTI has them, and what became of which memory how often. */
void stat_sections__unified(struct sheet *sheet, const struct stat_report *report)
{
	static const uint8_t order[] = {1, 2, 8, 3, 4, 5, 6, 7, 0};
	const struct stat_events *events = &report->table->events;
	const struct stat_span *spans = events->uvm_spans;

	sheet__open(sheet, "unified", '{');
	for (int i = 1; i < STAT_UVM_COUNTERS; i++)
		sheet__put(sheet, stat_events__uvm_key(i), cell_number(events->uvm[i]));
	sheet__put(sheet, "gpu_fault_records", cell_number(spans[4].count));
	sheet__put(sheet, "thrashing_count", cell_number(spans[5].count));
	sheet__put(sheet, "throttling_count", cell_number(spans[6].count));
	sheet__put(sheet, "remote_map_count", cell_number(spans[7].count));
	sheet__begin(sheet, "migrations", "\nUnified memory", UINT64_MAX);
	/* JSON has the rest as numbers. */
	for (size_t i = 0; i < (sheet->json ? 3 : COUNT(order)); i++)
		if (spans[order[i]].count)
			put_uvm(sheet, spans[order[i]], order[i], events->uvm[order[i]]);
	sheet__end(sheet);
	sheet__close(sheet);
}
