// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counted kernels. Text: a block for each kernel and shape: the verdict, then its metrics. JSON:
 * one object a line; a figure that is none (a ratio of nothing) is null.
 */
#include "cuda-trace/profile/counters/counter_report.h"

#include <inttypes.h>
#include <math.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/profile/counters/counter_units.h"

#define NAME_COLUMNS	    100
#define WORTH_A_LINE	    0.01 /* of the peak of a precision */
#define MORE_THAN_CONSTANTS 0.05

static const char *figure(char out[24], double value)
{
	if (isnan(value) || isinf(value))
		snprintf(out, 24, "-");
	/* Scaled to another unit, whole numbers are so but for the last bits. */
	else if (fabs(value) < 1e9 && fabs(value - round(value)) <= 1e-12 * fabs(value))
		snprintf(out, 24, "%.0f", value);
	else
		snprintf(out, 24, "%.2f", value);
	return out;
}

static void put_shape(struct sheet *sheet, const struct counter_kernel *kernel)
{
	char shown[4 * NAME_COLUMNS + 4];

	sheet__put(sheet, "graph", cell_if(kernel->graph, cell_number(kernel->graph)));
	sheet__put(sheet, "grid", cell_triple(kernel->grid));
	sheet__put(sheet, "block", cell_triple(kernel->block));
	sheet__put(sheet, "registers", cell_if(kernel->registers, cell_number(kernel->registers)));
	sheet__put(sheet, "static_shared",
		   cell_if(kernel->registers, cell_number(kernel->static_shared)));
	sheet__put(sheet, "dynamic_shared", cell_number(kernel->dynamic_shared));
	sheet__say(sheet, "%s\n", text__show(shown, sizeof(shown), kernel->name, NAME_COLUMNS));
	if (kernel->is_graph) {
		sheet__say(sheet, "  counted %" PRIu64 "\n", kernel->counted);
		return;
	}
	sheet__say(sheet, "  grid %ux%ux%u  block %ux%ux%u", kernel->grid[0], kernel->grid[1],
		   kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2]);
	if (kernel->registers)
		sheet__say(sheet, "  registers %u  shared memory %u", kernel->registers,
			   kernel->static_shared + kernel->dynamic_shared);
	sheet__say(sheet, "  counted %" PRIu64 "\n", kernel->counted);
}

/* Not all launches have the same metrics. */
static bool is_by_turns(const struct counter_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->count; i++)
		if (kernel->sums[i].count != kernel->counted)
			return true;
	return false;
}

static void say_sum(struct sheet *sheet, const struct counter_sum *sum, bool by_turns)
{
	char mean[24], least[24], most[24], of[24] = "", shown_unit[64], shown[600];
	struct counter_unit unit;

	counter_unit__choose(&unit, sum->metric->unit, counter_sum__mean(sum));
	if (by_turns)
		snprintf(of, sizeof(of), "%8" PRIu64 " ", sum->count);
	sheet__say(sheet, "  %11s %11s %11s %s%-14s %s\n",
		   figure(mean, counter_sum__mean(sum) * unit.factor),
		   figure(least, sum->least * unit.factor), figure(most, sum->most * unit.factor),
		   of, text__show(shown_unit, sizeof(shown_unit), unit.text, 14),
		   text__show(shown, sizeof(shown), sum->metric->name, 120));
}

/* `sums`: of several launches. */
static void put_metrics(struct sheet *sheet, const struct counter_kernel *kernel, bool sums)
{
	bool by_turns = is_by_turns(kernel);

	sheet__open(sheet, "metrics", '{');
	sheet__say(sheet, "  %-11s %11s %11s %s%-14s %s\n", "       MEAN", "MIN", "MAX",
		   by_turns ? "LAUNCHES " : "", "UNIT", "METRIC");
	for (uint32_t i = 0; i < kernel->count; i++) {
		const struct counter_sum *sum = &kernel->sums[i];

		sheet__open(sheet, sum->metric->name, '{');
		sheet__put(sheet, "value", cell_real(counter_sum__mean(sum)));
		if (sums) {
			sheet__put(sheet, "least", cell_real(sum->least));
			sheet__put(sheet, "most", cell_real(sum->most));
			sheet__put(sheet, "launches", cell_number(sum->count));
		}
		sheet__put(sheet, "unit", cell_text(sum->metric->unit));
		sheet__close(sheet);
		if (!sheet->json)
			say_sum(sheet, sum, by_turns);
	}
	sheet__close(sheet);
}

static void put_point(struct sheet *sheet, const struct roofline_point *point,
		      enum roofline_precision precision)
{
	const char *unit = precision == ROOFLINE_TENSOR_INT8 ? "OP" : "FLOP";
	struct counter_unit scale;
	char done[24], roof[24];

	sheet__put(sheet, "precision", cell_text(roofline__key(precision)));
	sheet__put(sheet, "flop_per_byte", cell_real(point->intensity));
	sheet__put(sheet, "flop_per_second", cell_real(point->performance));
	sheet__put(sheet, "roof_flop_per_second", cell_real(point->roof));
	sheet__put(sheet, "ridge_flop_per_byte", cell_real(point->ridge));
	if (sheet->json || !(point->roof > 0) || !(point->intensity > 0))
		return;
	/* Both in one unit, so that they can be compared. */
	counter_unit__choose(&scale, precision == ROOFLINE_TENSOR_INT8 ? "OP/s" : "FLOP/s",
			     point->roof);
	sheet__say(sheet, "  roofline: %.2f %s/byte (ridge %.1f), %s of %s %s there (%.0f%%), %s\n",
		   point->intensity, unit, point->ridge,
		   figure(done, point->performance * scale.factor),
		   figure(roof, point->roof * scale.factor), scale.text,
		   100 * point->performance / point->roof, roofline__words(precision));
}

/* Text: more than some code beside the one that decides. Constants are loaded by instructions of
 * half precision, 3 % of its peak in a loop of single precision on an H200. */
static bool is_shown(const struct sheet *sheet, const struct roofline_point *point,
		     enum roofline_precision precision)
{
	double least = precision == ROOFLINE_FP16 ? MORE_THAN_CONSTANTS : WORTH_A_LINE;

	return sheet->json ? point->performance > 0 : point->share >= least;
}

static void put_roofline(struct sheet *sheet, const struct verdict_facts *facts,
			 const struct verdict *verdict)
{
	sheet__open(sheet, "roofline", '{');
	put_point(sheet, &verdict->roofline, verdict->precision);
	sheet__open(sheet, "others", '[');
	for (int precision = 0; precision < ROOFLINE_COUNT; precision++) {
		struct roofline_point point = verdict_facts__roofline(facts, precision);

		if (precision == (int)verdict->precision || !is_shown(sheet, &point, precision))
			continue;
		sheet__open(sheet, NULL, '{');
		put_point(sheet, &point, precision);
		sheet__close(sheet);
	}
	sheet__close(sheet);
	sheet__put(sheet, "uncounted", cell_text(verdict->uncounted));
	sheet__close(sheet);
	if (verdict->uncounted)
		sheet__say(sheet,
			   "  roofline: the %s do most of the work, and their operations were not "
			   "counted: use --counters roofline\n",
			   verdict->uncounted);
}

static void put_also(struct sheet *sheet, uint32_t also)
{
	const char *lead = "  also: ";

	sheet__open(sheet, "also", '[');
	for (int kind = 0; kind < VERDICT_COUNT; kind++)
		if (also & 1u << kind) {
			sheet__put(sheet, NULL, cell_text(verdict__key(kind)));
			sheet__say(sheet, "%s%s", lead, verdict__key(kind));
			lead = ", ";
		}
	sheet__close(sheet);
	if (also)
		sheet__say(sheet, "\n");
}

static void put_verdict(struct sheet *sheet, const struct counter_kernel *kernel)
{
	struct verdict_facts facts;
	struct verdict verdict;
	char because[256], best[16];

	counter_kernel__verdict(kernel, &facts, &verdict);
	if (!sheet->json && verdict.kind == VERDICT_UNKNOWN)
		return;
	verdict__because(&facts, &verdict, because, sizeof(because));
	sheet__say(sheet, "  verdict: %s: %s\n", verdict__key(verdict.kind), because);
	sheet__say(sheet, "  try: %s\n", verdict__advice(&verdict));
	if (verdict__where(&verdict))
		sheet__say(sheet, "  where: %s\n", verdict__where(&verdict));
	sheet__open(sheet, "verdict", '{');
	sheet__put(sheet, "is", cell_text(verdict__key(verdict.kind)));
	put_also(sheet, verdict.also);
	sheet__put(sheet, "because", cell_text(because));
	sheet__put(sheet, "advice", cell_text(verdict__advice(&verdict)));
	sheet__put(sheet, "where", cell_text(verdict__where(&verdict)));
	sheet__put(sheet, "limited_by", cell_text(verdict.limit));
	sheet__put(sheet, "busiest", cell_text(verdict.busiest));
	sheet__put(sheet, "busiest_percent",
		   cell_if(verdict.busiest, cell_real(verdict.busiest_percent)));
	sheet__put(sheet, "waves", cell_real(verdict.waves));
	sheet__put(sheet, "possible_occupancy_percent", cell_real(verdict.possible));
	sheet__put(sheet, "best_ns", cell_real(verdict.best_ns));
	if (verdict.best_ns > 0)
		sheet__say(sheet, "  best time with %s at its peak: %s\n", verdict.busiest,
			   text__ns(best, (uint64_t)verdict.best_ns));
	put_roofline(sheet, &facts, &verdict);
	sheet__close(sheet);
}

void counter_report__kernel(struct sheet *sheet, const struct process *process,
			    const struct cuda_counters *record, const struct counter_kernel *kernel,
			    bool whole)
{
	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "event", cell_text("counters"));
	sheet__put(sheet, "pid", cell_number(process->pid));
	sheet__put(sheet, "comm", cell_text(process->comm));
	sheet__put(sheet, "kernel", cell_text(kernel->name));
	sheet__put(sheet, "number", cell_number(record->number));
	sheet__put(sheet, "correlation", cell_number(record->head.correlation));
	sheet__put(sheet, "device", cell_number(record->device));
	sheet__put(sheet, "context", cell_number(record->context));
	sheet__put(sheet, "stream", cell_number(record->stream));
	put_shape(sheet, kernel);
	sheet__put(sheet, "passes", cell_number(record->passes));
	sheet__put(sheet, "call_ns",
		   cell_number(record->end > record->start ? record->end - record->start : 0));
	put_metrics(sheet, kernel, false);
	if (whole && !kernel->is_graph)
		put_verdict(sheet, kernel);
	else
		sheet__put(sheet, "verdict", cell_none);
	sheet__close(sheet);
}

/* The rules are of one kernel and its shape, and of a time that has no launch in it. */
static void put_none(struct sheet *sheet)
{
	sheet__put(sheet, "verdict", cell_none);
	sheet__say(sheet,
		   "  no verdict for a graph: its times contain the launch and the wait for its "
		   "end\n");
}

/* In text the verdict stands first. */
void counter_report__sum(struct sheet *sheet, const struct counter_table *table,
			 const struct counter_kernel *kernel)
{
	uint32_t missing = counter_table__lacks(table, kernel);

	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "event", cell_text("counters_sum"));
	sheet__put(sheet, "kernel", cell_text(kernel->name));
	put_shape(sheet, kernel);
	sheet__put(sheet, "launches", cell_number(kernel->counted));
	if (sheet->json)
		put_metrics(sheet, kernel, true);
	if (missing) {
		sheet__put(sheet, "verdict", cell_none);
		sheet__say(sheet,
			   "  %u more metrics need further launches of this kernel: no verdict "
			   "without them\n",
			   missing);
	} else if (kernel->is_graph) {
		put_none(sheet);
	} else {
		put_verdict(sheet, kernel);
	}
	if (!sheet->json)
		put_metrics(sheet, kernel, true);
	sheet__close(sheet);
}

static struct cell text_or_none(const char *text)
{
	return cell_if(*text, cell_text(text));
}

static void say_process(struct sheet *sheet, const struct counter_process *process,
			enum counter_report_what what)
{
	const struct cuda_counters_state *state = &process->state;
	bool graphs = what == COUNTER_REPORT_GRAPHS;
	uint64_t others = graphs ? state->launches : state->graphs;
	char comm[80], chip[140];

	sheet__say(sheet,
		   "process %u (%s): %llu of %llu %slaunches counted (%llu matched, %llu missed)",
		   process->pid, text__show(comm, sizeof(comm), process->comm, 16),
		   (unsigned long long)state->counted,
		   (unsigned long long)(graphs ? state->graphs : state->launches),
		   graphs ? "graph " : "", (unsigned long long)state->matched,
		   (unsigned long long)state->missed);
	if (others)
		sheet__say(sheet, ", %" PRIu64 " %s launches not%s", others,
			   graphs ? "kernel" : "graph",
			   what == COUNTER_REPORT_KERNELS ? " (--graphs counts them)" : "");
	if (state->passes)
		sheet__say(sheet, "; %u metrics in %u pass%s on %s", state->metrics, state->passes,
			   state->passes == 1 ? "" : "es",
			   text__show(chip, sizeof(chip), process->chip, 30));
	sheet__say(sheet, "\n");
}

void counter_report__process(struct sheet *sheet, const struct counter_process *process,
			     enum counter_report_what what)
{
	const struct cuda_counters_state *state = &process->state;

	if (!sheet->json) {
		say_process(sheet, process, what);
		return;
	}
	sheet__open(sheet, NULL, '{');
	sheet__put(sheet, "event", cell_text("counters_state"));
	sheet__put(sheet, "pid", cell_number(process->pid));
	sheet__put(sheet, "comm", cell_text(process->comm));
	sheet__put(sheet, "outcome", cell_text(counter_report__outcome(state->outcome)));
	sheet__put(sheet, "launches", cell_number(state->launches));
	sheet__put(sheet, "matched", cell_number(state->matched));
	sheet__put(sheet, "counted", cell_number(state->counted));
	sheet__put(sheet, "missed", cell_number(state->missed));
	sheet__put(sheet, "graphs", cell_number(state->graphs));
	sheet__put(sheet, "metrics", cell_number(state->metrics));
	sheet__put(sheet, "passes", cell_number(state->passes));
	sheet__put(sheet, "result", cell_signed(state->result));
	sheet__put(sheet, "chip", text_or_none(process->chip));
	sheet__put(sheet, "failed_call", text_or_none(process->function));
	sheet__put(sheet, "failed_metric", text_or_none(process->metric));
	sheet__close(sheet);
}

void counter_report__text(FILE *file, const struct counter_table *table, uint64_t most)
{
	enum counter_report_what what =
		table->graphs ? COUNTER_REPORT_GRAPHS : COUNTER_REPORT_KERNELS;
	struct sheet sheet = {.file = file};
	uint64_t shown = 0, left = 0;

	for (const struct counter_process *process = table->processes; process;
	     process = process->next)
		if (process->has_state)
			counter_report__process(&sheet, process, what);
	for (const struct counter_kernel *kernel = table->kernels; kernel; kernel = kernel->next) {
		if (most && shown == most) {
			left++;
			continue;
		}
		fputc('\n', file);
		counter_report__sum(&sheet, table, kernel);
		shown++;
	}
	if (left)
		fprintf(file, "\n%" PRIu64 " more kernels and shapes; -n sets how many are shown\n",
			left);
	if (table->unkept)
		fprintf(file,
			"\n%" PRIu64 " launches of further kernels and shapes were not kept\n",
			table->unkept);
}
