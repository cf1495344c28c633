// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat` for people: copies, memory, waits, errors, ranges, and where the time went.
 */
#include "cuda-trace/stat/stat_report.h"

#include <inttypes.h>
#include "cuda-trace/base/call_arguments.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *stat_report__bytes(char out[24], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double number = bytes;
	size_t unit = 0;

	for (; number >= 1024 && unit + 1 < COUNT(units); unit++)
		number /= 1024;
	snprintf(out, 24, unit ? "%.2f %s" : "%.0f %s", number, units[unit]);
	return out;
}

/* Copies that were seen at the driver have no GPU time. */
static struct cell timed(const struct stat_span *span, uint64_t ns)
{
	return span->total_ns ? cell_ns(ns) : (struct cell){};
}

static void put_copies(FILE *file, const struct stat_events *events, bool sampled)
{
	static const struct column columns[] = {
		{"direction", "DIRECTION", 9, COLUMN_LEFT},
		{"from", "FROM", 8, COLUMN_LEFT},
		{"to", "TO", 8, COLUMN_LEFT},
		{"count", "COUNT", 11, 0},
		{"bytes", "BYTES", 11, 0},
		{"total", "TOTAL", 8, 0},
		{"mean", "MEAN", 8, 0},
		{"max", "MAX", 8, 0},
		{"rate", "THROUGHPUT", 0, COLUMN_LEFT},
	};
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};

	for (uint32_t i = 0; i < events->copy_count; i++) {
		const struct stat_copy *copy = &events->copies[i];
		const struct stat_span *span = &copy->span;
		char bytes[24], rate[32] = "-";

		if (!i)
			fprintf(file, sampled ? "\nCopies, estimated\n" : "\nCopies\n");
		if (span->total_ns)
			snprintf(rate, sizeof(rate), "%.2f GB/s",
				 (double)copy->bytes / span->total_ns);
		writer__row(&writer,
			    (const struct cell[]){
				    cell_text(stat_events__copy_key(copy->kind)),
				    cell_text(copy->kind == STAT_COPY_SET
						      ? ""
						      : stat_events__memory_key(copy->from)),
				    cell_text(stat_events__memory_key(copy->to)),
				    cell_count(span->count),
				    cell_text(stat_report__bytes(bytes, copy->bytes)),
				    timed(span, span->total_ns),
				    timed(span, span->count ? span->total_ns / span->count : 0),
				    timed(span, span->max_ns), cell_text(rate)});
	}
}

static void put_memory(FILE *file, const struct stat_report *report)
{
	static const struct column columns[] = {
		{"pid", "PID", 8, 0},	       {"process", "PROCESS", 15, COLUMN_LEFT},
		{"device", "GPU", 3, 0},       {"kind", "KIND", 8, COLUMN_LEFT},
		{"allocs", "ALLOCS", 9, 0},    {"bytes", "BYTES", 11, 0},
		{"frees", "FREES", 9, 0},      {"peak", "PEAK", 11, 0},
		{"held", "STILL HELD", 11, 0},
	};
	const struct stat_table *table = report->table;
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};

	char untracked[32];
	uint32_t i;

	for (i = 0; i < table->memory_count && i < report->most_kernels; i++) {
		const struct stat_memory *line = &table->memory[i];
		char bytes[24], peak[24], held[24];

		if (!i)
			fprintf(file, "\nMemory\n");
		writer__row(&writer, (const struct cell[]){
					     cell_number(line->pid),
					     cell_text(line->comm),
					     line->device == UINT32_MAX ? (struct cell){}
									: cell_number(line->device),
					     cell_text(stat_events__memory_key(line->kind)),
					     cell_count(line->allocs),
					     cell_text(stat_report__bytes(bytes, line->bytes)),
					     cell_count(line->frees),
					     cell_text(stat_report__bytes(peak, line->peak_bytes)),
					     cell_text(stat_report__bytes(held, line->live_bytes)),
				     });
	}
	if (i < table->memory_count)
		fprintf(file, " ... and %u more (-n %u shows all)\n", table->memory_count - i,
			table->memory_count);
	if (table->totals.untracked)
		fprintf(file,
			" %s allocations were too many to keep track of: in neither PEAK nor STILL "
			"HELD\n",
			text__count(untracked, table->totals.untracked));
}

static void put_spans(FILE *file, const char *title, const char *const *names,
		      const struct stat_span *spans, int count)
{
	static const struct column columns[] = {
		{"kind", "KIND", 24, COLUMN_LEFT},
		{"count", "COUNT", 11, 0},
		{"total", "TOTAL", 8, 0},
		{"mean", "MEAN", 8, 0},
		{"min", "MIN", 8, 0},
		{"max", "MAX", 8, 0},
	};
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};

	for (int i = 0; i < count; i++) {
		if (!spans[i].count)
			continue;
		if (!writer.headed)
			fprintf(file, "\n%s\n", title);
		writer__row(&writer, (const struct cell[]){
					     cell_text(names[i]),
					     cell_count(spans[i].count),
					     cell_ns(spans[i].total_ns),
					     cell_ns(spans[i].total_ns / spans[i].count),
					     cell_ns(spans[i].min_ns),
					     cell_ns(spans[i].max_ns),
				     });
	}
}

/* Driver calls stand under the runtime call that made them, and are part of its time. */
static void put_calls(FILE *file, const struct stat_report *report)
{
	static const struct column columns[] = {
		{"share", "SHARE", 6, 0},   {"total", "TOTAL", 8, 0},	      {"own", "OWN", 8, 0},
		{"count", "COUNT", 11, 0},  {"mean", "MEAN", 8, 0},	      {"max", "MAX", 8, 0},
		{"failed", "FAILED", 8, 0}, {"call", "CALL", 0, COLUMN_LEFT},
	};
	const struct stat_calls *calls = report->calls;
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};

	for (uint32_t i = 0; calls && i < calls->count && i < report->most_kernels; i++) {
		const struct stat_call *call = &calls->lines[i];
		char share[16], name[sizeof(call->name) + 2], host[16];

		if (!i)
			fprintf(file,
				"\nCalls of the CUDA API (%s of the host's time, all threads)\n",
				text__ns(host, calls->host_ns));
		snprintf(share, sizeof(share), "%.1f%%",
			 calls->host_ns ? 100.0 * call->span.total_ns / calls->host_ns : 0);
		snprintf(name, sizeof(name), "%s%s", *call->parent ? "  " : "", call->name);
		writer__row(&writer, (const struct cell[]){
					     cell_text(share), cell_ns(call->span.total_ns),
					     cell_ns(call->own_ns), cell_count(call->span.count),
					     cell_ns(call->span.total_ns / call->span.count),
					     cell_ns(call->span.max_ns), cell_count(call->failed),
					     cell_text(name)});
	}
}

/* Below a line of failed calls. */
static void put_last(FILE *file, const struct stat_error *error)
{
	char asked[256], shown[4 * sizeof(asked) + 4];

	call_arguments__text(asked, sizeof(asked), &error->last, error->kernel);
	if (*asked)
		fprintf(file, "%14slast: %s\n", "", text__show(shown, sizeof(shown), asked, 0));
}

static void put_errors(FILE *file, const struct stat_report *report)
{
	static const struct column columns[] = {
		{"count", "COUNT", 11, 0},
		{"call", "CALL", 32, COLUMN_LEFT},
		{"code", "CODE", 5, 0},
		{"result", "RESULT", 0, COLUMN_LEFT},
	};
	const struct stat_events *events = &report->table->events;
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};
	const struct stat_error *error;

	for (uint32_t i = 0; (error = stat_errors__next(&events->errors, &i));) {
		if (!writer.headed)
			fprintf(file, "\nFailed calls\n");
		writer__row(&writer,
			    (const struct cell[]){
				    cell_count(error->count),
				    cell_text(error->text),
				    error->result ? cell_signed(error->result) : (struct cell){},
				    cell_text(stat_errors__result(error)),
			    });
		put_last(file, error);
	}
}

/* Of faults the value is how many there were; of all else, bytes. */
static void put_unified(FILE *file, const struct stat_events *events)
{
	static const struct column columns[] = {
		{"kind", "KIND", 24, COLUMN_LEFT},
		{"count", "COUNT", 11, 0},
		{"bytes", "BYTES", 11, 0},
		{"total", "TOTAL", 8, 0},
		{"mean", "MEAN", 8, 0},
		{"max", "MAX", 8, 0},
	};
	static const char *const names[STAT_UVM_COUNTERS] = {
		"unknown",	    "migrations HtoD",	"migrations DtoH",
		"page faults, CPU", "page faults, GPU", "thrashing",
		"throttling",	    "remote mappings",	"migrations DtoD"};
	static const uint8_t order[] = {1, 2, 8, 3, 4, 5, 6, 7, 0};
	struct writer writer = {
		.file = file, .columns = columns, .count = COUNT(columns), .indent = 1};

	for (size_t i = 0; i < COUNT(order); i++) {
		struct stat_span span = events->uvm_spans[order[i]];
		uint64_t value = events->uvm[order[i]];
		bool faults = order[i] == 3 || order[i] == 4;
		bool bytes = !faults && order[i] != 6 && order[i];
		char text[24];

		if (!span.count)
			continue;
		/* Of a fault on the host CUPTI knows the moment alone. */
		if (order[i] == 3)
			span.total_ns = 0;
		if (!writer.headed)
			fprintf(file, "\nUnified memory\n");
		writer__row(&writer, (const struct cell[]){
					     cell_text(names[order[i]]),
					     cell_count(faults ? value : span.count),
					     bytes ? cell_text(stat_report__bytes(text, value))
						   : (struct cell){},
					     timed(&span, span.total_ns),
					     timed(&span, span.total_ns / span.count),
					     timed(&span, span.max_ns),
				     });
	}
}

void stat_report__text_events(FILE *file, const struct stat_report *report)
{
	const struct stat_events *events = &report->table->events;
	const char *names[STAT_MAX_RANGES];
	struct stat_span spans[STAT_MAX_RANGES];

	put_copies(file, events, report->table->sampled);
	put_memory(file, report);
	put_unified(file, events);
	for (int i = 0; i < STAT_SYNC_TYPES; i++)
		names[i] = stat_events__sync_key(i);
	put_spans(file, "Waits", names, events->syncs, STAT_SYNC_TYPES);
	put_calls(file, report);
	names[0] = "graph";
	put_spans(file, "Graphs on the GPU, as a whole", names, &events->graphs, 1);
	names[0] = "instantiation";
	put_spans(file, "Graphs made ready by the host", names, &events->instantiations, 1);
	for (uint32_t i = 0; i < events->range_count; i++) {
		names[i] = events->ranges[i].text;
		spans[i] = events->ranges[i].span;
	}
	put_spans(file, "NVTX ranges", names, spans, events->range_count);
	stat_report__text_ranges(file, report);
	for (int i = 0; i < 9; i++)
		names[i] = stat_events__overhead_key(i);
	put_spans(file, "Overhead of CUPTI and the driver", names, events->overhead, 9);
	for (int i = 0; i < STAT_JIT_KINDS; i++)
		names[i] = stat_events__jit_key(i);
	put_spans(file, "Compilation at run time (JIT)", names, events->jit, STAT_JIT_KINDS);
	stat_report__text_objects(file, report);
	put_errors(file, report);
	stat_report__text_time(file, report->table);
	stat_report__text_idle(file, report);
}
