// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counted kernels as JSON, one object a line. A figure that is none (a ratio of nothing) is null.
 */
#include <inttypes.h>
#include <math.h>
#include "cuda-trace/profile/counters/counter_report.h"
#include "cuda-trace/base/number_text.h"
#include "cuda-trace/base/text.h"

static void put_number(FILE *file, const char *key, double value)
{
	char text[NUMBER_TEXT_SIZE];

	if (isfinite(value))
		fprintf(file, "\"%s\":%s", key, number__shortest(text, value));
	else
		fprintf(file, "\"%s\":null", key);
}

static void put_text(FILE *file, const char *key, const char *text)
{
	fprintf(file, "\"%s\":", key);
	if (text)
		text__write_json(file, text);
	else
		fputs("null", file);
}

static void put_metrics(FILE *file, const struct counter_kernel *kernel, bool sums)
{
	fputs("\"metrics\":{", file);
	for (uint32_t i = 0; i < kernel->count; i++) {
		if (i)
			fputc(',', file);
		text__write_json(file, kernel->sums[i].metric->name);
		fputs(":{", file);
		put_number(file, "value", counter_sum__mean(&kernel->sums[i]));
		fputc(',', file);
		if (sums) {
			put_number(file, "least", kernel->sums[i].least);
			fputc(',', file);
			put_number(file, "most", kernel->sums[i].most);
			fprintf(file, ",\"launches\":%" PRIu64 ",", kernel->sums[i].count);
		}
		put_text(file, "unit", kernel->sums[i].metric->unit);
		fputc('}', file);
	}
	fputc('}', file);
}

static void put_point(FILE *file, const struct roofline_point *point,
		      enum roofline_precision precision)
{
	put_text(file, "precision", roofline__key(precision));
	fputc(',', file);
	put_number(file, "flop_per_byte", point->intensity);
	fputc(',', file);
	put_number(file, "flop_per_second", point->performance);
	fputc(',', file);
	put_number(file, "roof_flop_per_second", point->roof);
	fputc(',', file);
	put_number(file, "ridge_flop_per_byte", point->ridge);
}

static void put_roofline(FILE *file, const struct verdict_facts *facts,
			 const struct verdict *verdict)
{
	const char *lead = "";

	fputs("\"roofline\":{", file);
	put_point(file, &verdict->roofline, verdict->precision);
	fputs(",\"others\":[", file);
	for (int precision = 0; precision < ROOFLINE_COUNT; precision++) {
		struct roofline_point point = verdict_facts__roofline(facts, precision);

		if (precision == (int)verdict->precision || !(point.performance > 0))
			continue;
		fprintf(file, "%s{", lead);
		put_point(file, &point, precision);
		fputc('}', file);
		lead = ",";
	}
	fputs("],", file);
	put_text(file, "uncounted", verdict->uncounted);
	fputc('}', file);
}

static void put_verdict(FILE *file, const struct counter_kernel *kernel)
{
	struct verdict_facts facts;
	struct verdict verdict;
	char because[256];
	const char *lead = "";

	counter_kernel__verdict(kernel, &facts, &verdict);
	verdict__because(&facts, &verdict, because, sizeof(because));
	fputs("\"verdict\":{", file);
	put_text(file, "is", verdict__key(verdict.kind));
	fputs(",\"also\":[", file);
	for (int kind = 0; kind < VERDICT_COUNT; kind++)
		if (verdict.also & 1u << kind) {
			fprintf(file, "%s\"%s\"", lead, verdict__key(kind));
			lead = ",";
		}
	fputs("],", file);
	put_text(file, "because", because);
	fputc(',', file);
	put_text(file, "advice", verdict__advice(&verdict));
	fputc(',', file);
	put_text(file, "where", verdict__where(&verdict));
	fputc(',', file);
	put_text(file, "limited_by", verdict.limit);
	fputc(',', file);
	put_text(file, "busiest", verdict.busiest);
	fputc(',', file);
	put_number(file, "busiest_percent", verdict.busiest ? verdict.busiest_percent : NAN);
	fputc(',', file);
	put_number(file, "waves", verdict.waves);
	fputc(',', file);
	put_number(file, "possible_occupancy_percent", verdict.possible);
	fputc(',', file);
	put_number(file, "best_ns", verdict.best_ns);
	fputc(',', file);
	put_roofline(file, &facts, &verdict);
	fputc('}', file);
}

static void put_shape(FILE *file, const struct counter_kernel *kernel)
{
	fprintf(file, "\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],", kernel->grid[0], kernel->grid[1],
		kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2]);
	if (kernel->registers)
		fprintf(file, "\"registers\":%u,\"static_shared\":%u,", kernel->registers,
			kernel->static_shared);
	else
		fputs("\"registers\":null,\"static_shared\":null,", file);
	fprintf(file, "\"dynamic_shared\":%u,", kernel->dynamic_shared);
}

void counter_report__json_kernel(FILE *file, const struct process *process,
				 const struct cuda_counters *record,
				 const struct counter_kernel *kernel, bool whole)
{
	fprintf(file, "{\"event\":\"counters\",\"pid\":%u,", process->pid);
	put_text(file, "comm", process->comm);
	fputc(',', file);
	put_text(file, "kernel", kernel->name);
	fprintf(file,
		",\"number\":%u,\"correlation\":%u,\"device\":%u,\"context\":%u,\"stream\":%" PRIu64
		",",
		record->number, record->head.correlation, record->device, record->context,
		(uint64_t)record->stream);
	put_shape(file, kernel);
	fprintf(file, "\"passes\":%u,\"call_ns\":%" PRIu64 ",", record->passes,
		(uint64_t)(record->end > record->start ? record->end - record->start : 0));
	put_metrics(file, kernel, false);
	fputc(',', file);
	if (whole)
		put_verdict(file, kernel);
	else
		fputs("\"verdict\":null", file);
	fputs("}\n", file);
}

void counter_report__json_sum(FILE *file, const struct counter_table *table,
			      const struct counter_kernel *kernel)
{
	fputs("{\"event\":\"counters_sum\",", file);
	put_text(file, "kernel", kernel->name);
	fputc(',', file);
	put_shape(file, kernel);
	fprintf(file, "\"launches\":%" PRIu64 ",", kernel->counted);
	put_metrics(file, kernel, true);
	fputc(',', file);
	if (counter_table__lacks(table, kernel))
		fputs("\"verdict\":null", file);
	else
		put_verdict(file, kernel);
	fputs("}\n", file);
}

void counter_report__json_process(FILE *file, const struct counter_process *process)
{
	const struct cuda_counters_state *state = &process->state;

	fprintf(file, "{\"event\":\"counters_state\",\"pid\":%u,", process->pid);
	put_text(file, "comm", process->comm);
	fputc(',', file);
	put_text(file, "outcome", counter_report__outcome(state->outcome));
	fprintf(file,
		",\"launches\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"counted\":%" PRIu64
		",\"missed\":%" PRIu64 ",\"graphs\":%" PRIu64
		",\"metrics\":%u,\"passes\":%u,\"result\":%d,",
		(uint64_t)state->launches, (uint64_t)state->matched, (uint64_t)state->counted,
		(uint64_t)state->missed, (uint64_t)state->graphs, state->metrics, state->passes,
		state->result);
	put_text(file, "chip", *process->chip ? process->chip : NULL);
	fputc(',', file);
	put_text(file, "failed_call", *process->function ? process->function : NULL);
	fputc(',', file);
	put_text(file, "failed_metric", *process->metric ? process->metric : NULL);
	fputs("}\n", file);
}
