// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counted kernels as text: a block for each kernel and shape: the verdict, then its metrics.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "cuda-trace/profile/counters/counter_report.h"
#include "cuda-trace/profile/counters/counter_units.h"
#include "cuda-trace/base/text.h"

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

static void print_head(FILE *file, const struct counter_kernel *kernel)
{
	char shown[4 * NAME_COLUMNS + 4];

	fprintf(file, "%s\n", text__show(shown, sizeof(shown), kernel->name, NAME_COLUMNS));
	fprintf(file, "  grid %ux%ux%u  block %ux%ux%u", kernel->grid[0], kernel->grid[1],
		kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2]);
	if (kernel->registers)
		fprintf(file, "  registers %u  shared memory %u", kernel->registers,
			kernel->static_shared + kernel->dynamic_shared);
	fprintf(file, "  counted %" PRIu64 "\n", kernel->counted);
}

/* Not all launches have the same metrics. */
static bool is_by_turns(const struct counter_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->count; i++)
		if (kernel->sums[i].count != kernel->counted)
			return true;
	return false;
}

static void print_sums(FILE *file, const struct counter_kernel *kernel)
{
	char mean[24], least[24], most[24], of[24] = "";
	bool by_turns = is_by_turns(kernel);

	fprintf(file, "  %-11s %11s %11s %s%-14s %s\n", "       MEAN", "MIN", "MAX",
		by_turns ? "LAUNCHES " : "", "UNIT", "METRIC");
	for (uint32_t i = 0; i < kernel->count; i++) {
		const struct counter_sum *sum = &kernel->sums[i];
		struct counter_unit unit;
		char shown_unit[64], shown[600];

		counter_unit__choose(&unit, sum->metric->unit, counter_sum__mean(sum));
		if (by_turns)
			snprintf(of, sizeof(of), "%8" PRIu64 " ", sum->count);
		fprintf(file, "  %11s %11s %11s %s%-14s %s\n",
			figure(mean, counter_sum__mean(sum) * unit.factor),
			figure(least, sum->least * unit.factor),
			figure(most, sum->most * unit.factor), of,
			text__show(shown_unit, sizeof(shown_unit), unit.text, 14),
			text__show(shown, sizeof(shown), sum->metric->name, 120));
	}
}

static void print_point(FILE *file, const struct verdict_facts *facts,
			enum roofline_precision precision)
{
	struct roofline_point point = verdict_facts__roofline(facts, precision);
	const char *unit = precision == ROOFLINE_TENSOR_INT8 ? "OP" : "FLOP";
	struct counter_unit scale;
	char done[24], roof[24];

	if (!(point.roof > 0) || !(point.intensity > 0))
		return;
	/* Both in one unit, so that they can be compared. */
	counter_unit__choose(&scale, precision == ROOFLINE_TENSOR_INT8 ? "OP/s" : "FLOP/s",
			     point.roof);
	fprintf(file, "  roofline: %.2f %s/byte (ridge %.1f), %s of %s %s there (%.0f%%), %s\n",
		point.intensity, unit, point.ridge, figure(done, point.performance * scale.factor),
		figure(roof, point.roof * scale.factor), scale.text,
		100 * point.performance / point.roof, roofline__words(precision));
}

/* More than some code beside the one that decides. Constants are loaded by instructions of half
 * precision, 3 % of its peak in a loop of single precision on an H200. */
static bool is_worth_a_line(const struct verdict_facts *facts, enum roofline_precision precision)
{
	double least = precision == ROOFLINE_FP16 ? MORE_THAN_CONSTANTS : WORTH_A_LINE;

	return verdict_facts__roofline(facts, precision).share >= least;
}

static void print_roofline(FILE *file, const struct verdict_facts *facts,
			   const struct verdict *verdict)
{
	print_point(file, facts, verdict->precision);
	for (int precision = 0; precision < ROOFLINE_COUNT; precision++)
		if (precision != (int)verdict->precision && is_worth_a_line(facts, precision))
			print_point(file, facts, precision);
	if (verdict->uncounted)
		fprintf(file,
			"  roofline: the %s do most, and their operations were not counted: "
			"--counters roofline does\n",
			verdict->uncounted);
}

static void print_verdict(FILE *file, const struct counter_kernel *kernel)
{
	struct verdict_facts facts;
	struct verdict verdict;
	char because[256], best[16];

	counter_kernel__verdict(kernel, &facts, &verdict);
	if (verdict.kind == VERDICT_UNKNOWN)
		return;
	verdict__because(&facts, &verdict, because, sizeof(because));
	fprintf(file, "  verdict: %s: %s\n", verdict__key(verdict.kind), because);
	fprintf(file, "  try: %s\n", verdict__advice(&verdict));
	if (verdict__where(&verdict))
		fprintf(file, "  where: %s\n", verdict__where(&verdict));
	if (verdict.also) {
		const char *lead = "  also: ";

		for (int kind = 0; kind < VERDICT_COUNT; kind++)
			if (verdict.also & 1u << kind) {
				fprintf(file, "%s%s", lead, verdict__key(kind));
				lead = ", ";
			}
		fputc('\n', file);
	}
	if (verdict.best_ns > 0)
		fprintf(file, "  best time with %s at its peak: %s\n", verdict.busiest,
			text__ns(best, (uint64_t)verdict.best_ns));
	print_roofline(file, &facts, &verdict);
}

void counter_report__text_process(FILE *file, const struct counter_process *process)
{
	const struct cuda_counters_state *state = &process->state;
	char comm[80], chip[140];

	fprintf(file, "process %u (%s): ", process->pid,
		text__show(comm, sizeof(comm), process->comm, 16));
	fprintf(file, "%llu of %llu launches counted (%llu matched, %llu missed)",
		(unsigned long long)state->counted, (unsigned long long)state->launches,
		(unsigned long long)state->matched, (unsigned long long)state->missed);
	if (state->graphs)
		fprintf(file, ", %llu graph launches not", (unsigned long long)state->graphs);
	if (state->passes)
		fprintf(file, "; %u metrics in %u pass%s on %s", state->metrics, state->passes,
			state->passes == 1 ? "" : "es",
			text__show(chip, sizeof(chip), process->chip, 30));
	fputc('\n', file);
}

void counter_report__text(FILE *file, const struct counter_table *table, uint64_t most)
{
	uint64_t printed = 0, left = 0;

	for (const struct counter_process *process = table->processes; process;
	     process = process->next)
		if (process->reported)
			counter_report__text_process(file, process);
	for (const struct counter_kernel *kernel = table->kernels; kernel; kernel = kernel->next) {
		if (most && printed == most) {
			left++;
			continue;
		}
		fputc('\n', file);
		print_head(file, kernel);
		if (counter_table__lacks(table, kernel))
			fprintf(file,
				"  %u more metrics wait for launches of it: no verdict without "
				"them\n",
				counter_table__lacks(table, kernel));
		else
			print_verdict(file, kernel);
		print_sums(file, kernel);
		printed++;
	}
	if (left)
		fprintf(file, "\n%" PRIu64 " more kernels and shapes; -n says how many\n", left);
	if (table->unkept)
		fprintf(file,
			"\n%" PRIu64 " launches of yet other kernels and shapes were not kept\n",
			table->unkept);
}
