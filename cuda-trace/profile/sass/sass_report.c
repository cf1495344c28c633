// SPDX-License-Identifier: BSD-2-Clause
/*
 * `profile --sass`: functions, the lines in them, and which to look at; of JSON one object a
 * function. Its keys are documented in cuda-trace-profile(1) and stay.
 */
#include "cuda-trace/profile/sass/sass_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/profile/code/code_images.h"
#include "cuda-trace/profile/code/code_json.h"
#include "cuda-trace/profile/sass/sass_lines.h"

#define MAX_LINES    10 /* of a function */
#define NAME_COLUMNS 200

static const char *const keys[CUDA_SASS_COUNT] = {
	[CUDA_SASS_EXECUTED] = "executed",
	[CUDA_SASS_THREADS] = "threads",
	[CUDA_SASS_THREADS_ON] = "threads_on",
	[CUDA_SASS_SECTORS] = "sectors",
	[CUDA_SASS_SECTORS_IDEAL] = "sectors_ideal",
	[CUDA_SASS_WAVEFRONTS] = "wavefronts",
	[CUDA_SASS_WAVEFRONTS_IDEAL] = "wavefronts_ideal",
	[CUDA_SASS_SECTORS_LOCAL] = "sectors_local",
	[CUDA_SASS_BRANCH_DIVERGENT] = "branch_divergent",
	[CUDA_SASS_BRANCH_UNIFORM] = "branch_uniform",
};

/* What this GPU does not count is null. */
static void put_counts(struct sheet *sheet, const struct sass_counts *counts, uint32_t known)
{
	const uint64_t *values = counts->values;

	for (int i = 0; i < CUDA_SASS_COUNT; i++)
		sheet__put(sheet, keys[i], cell_if(known & 1u << i, cell_number(values[i])));
	sheet__put(sheet, "requests", cell_number(counts->requests));
	sheet__put(sheet, "accesses", cell_number(counts->accesses));
	sheet__put(sheet, "threads_an_instruction",
		   cell_if(known & 1u << CUDA_SASS_THREADS_ON,
			   cell_real(sass_ratio(values[CUDA_SASS_THREADS_ON],
						values[CUDA_SASS_EXECUTED]))));
	sheet__put(sheet, "sectors_a_request",
		   cell_if(known & 1u << CUDA_SASS_SECTORS,
			   cell_real(sass_ratio(values[CUDA_SASS_SECTORS], counts->requests))));
	sheet__put(sheet, "wavefronts_an_access",
		   cell_if(known & 1u << CUDA_SASS_WAVEFRONTS,
			   cell_real(sass_ratio(values[CUDA_SASS_WAVEFRONTS], counts->accesses))));
}

/* The row of a function, or of a line in it. */
static void put_columns(struct sheet *sheet, const struct sass_counts *counts, uint64_t whole,
			const char *where)
{
	const uint64_t *values = counts->values;
	uint64_t executed = values[CUDA_SASS_EXECUTED];
	const struct {
		const char *title;
		int width;
		uint64_t value, of;
	} ratios[] = {
		{"THREADS", 7, values[CUDA_SASS_THREADS_ON], executed},
		{"SECTORS", 7, values[CUDA_SASS_SECTORS], counts->requests},
		{"IDEAL", 5, values[CUDA_SASS_SECTORS_IDEAL], counts->requests},
		{"WAVES", 5, values[CUDA_SASS_WAVEFRONTS], counts->accesses},
		{"IDEAL", 5, values[CUDA_SASS_WAVEFRONTS_IDEAL], counts->accesses},
	};

	sheet__column(sheet, 0, "EXECUTED", 13, NULL, cell_count(executed));
	sheet__column(sheet, 1, "SHARE", 6, NULL,
		      cell_share((double)executed / (whole ? whole : 1)));
	for (int i = 0; i < 5; i++)
		sheet__column(sheet, 2 + i, ratios[i].title, ratios[i].width, NULL,
			      cell_real(sass_ratio(ratios[i].value, ratios[i].of)));
	sheet__column(sheet, 7, "FUNCTION AND LINES IN IT", 0, NULL, cell_text(where));
}

static void put_instructions(struct sheet *sheet, const struct sass_table *table, uint32_t function)
{
	sheet__open(sheet, "instructions", '[');
	for (uint32_t i = sass_table__first(table, function);
	     i < table->instruction_count && table->instructions[i].at.function == function; i++) {
		sheet__open(sheet, NULL, '{');
		code_json__put_place(sheet, &table->instructions[i].at);
		put_counts(sheet, &table->instructions[i].counts, table->functions[function].known);
		sheet__close(sheet);
	}
	sheet__close(sheet);
}

static void put_findings(struct sheet *sheet, const struct sass_function *function,
			 const struct sass_line *lines, uint32_t count)
{
	sheet__open(sheet, "look_at", '[');
	for (int finding = 0; finding < SASS_FINDING_COUNT; finding++) {
		const struct sass_line *line = sass_lines__worst(function, lines, count, finding);
		char because[160], where[600], shown[1300];

		if (!line)
			continue;
		sass_finding__because(finding, function, line, because, sizeof(because));
		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "is", cell_text(sass_finding__key(finding)));
		code_json__put_place(sheet, &line->first->at);
		sheet__put(sheet, "because", cell_text(because));
		sheet__put(sheet, "advice", cell_text(sass_finding__advice(finding)));
		sheet__close(sheet);
		pc_images__name(&line->first->at, "", where, sizeof(where));
		sheet__say(sheet, "   look at %s: %s: %s\n     try: %s\n",
			   text__show(shown, sizeof(shown), where, NAME_COLUMNS),
			   sass_finding__key(finding), because, sass_finding__advice(finding));
	}
	sheet__close(sheet);
}

static void put_lines(struct sheet *sheet, const struct sass_table *table,
		      const struct sass_line *lines, uint32_t count)
{
	char where[512];

	for (uint32_t i = 0; i < count && i < MAX_LINES; i++) {
		put_columns(sheet, &lines[i].counts, table->executed,
			    pc_images__name(&lines[i].first->at, "    ", where, sizeof(where)));
		sheet__row_end(sheet);
	}
	if (count > MAX_LINES)
		sheet__say(sheet, "   ... and %u more lines (--json has all)\n", count - MAX_LINES);
}

static void put_function(struct sheet *sheet, const struct sass_table *table, uint32_t number,
			 struct sass_line *lines)
{
	const struct sass_function *function = &table->functions[number];
	uint32_t count;

	if (!sheet__row(sheet, NULL))
		return;
	count = sass_lines__find(table, number, lines);
	sheet__put(sheet, "event", cell_text("sass"));
	sheet__put(sheet, "function", cell_text(function->of.name));
	code_json__put_origin(sheet, &function->of);
	sheet__put(sheet, "launches", cell_number(function->launches));
	put_counts(sheet, &function->counts, function->known);
	put_columns(sheet, &function->counts, table->executed, function->of.name);
	if (sheet->json) {
		put_findings(sheet, function, lines, count);
		put_instructions(sheet, table, number);
	}
	sheet__row_end(sheet);
	if (sheet->json)
		return;
	put_lines(sheet, table, lines, count);
	put_findings(sheet, function, lines, count);
}

static void put_functions(struct sheet *sheet, const struct sass_table *table, uint64_t most)
{
	struct sass_line *lines = calloc(table->instruction_count + 1, sizeof(*lines));

	sheet__title(sheet,
		     "\nFunctions by instructions of their warps; threads per instruction, sectors "
		     "per\nrequest to global memory, wavefronts per access to shared memory",
		     most);
	for (uint32_t i = 0; lines && i < table->function_count; i++)
		put_function(sheet, table, i, lines);
	free(lines);
}

void sass_report__text(FILE *file, const struct sass_table *table, uint64_t most)
{
	struct sheet sheet = {.file = file};

	put_functions(&sheet, table, most);
	sheet__say_more(&sheet);
	code_table__say_lines_from(file, &table->code);
	if (table->unkept)
		fprintf(file, "%" PRIu64 " instructions exceeded the table's limit\n",
			table->unkept);
}

void sass_report__json(FILE *file, const struct sass_table *table)
{
	struct sheet sheet = {.file = file, .json = true, .plain = true};

	put_functions(&sheet, table, UINT64_MAX);
}
