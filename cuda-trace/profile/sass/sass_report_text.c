// SPDX-License-Identifier: BSD-2-Clause
/* `profile --sass` for people: functions, the lines in them, and which to look at. */
#include "cuda-trace/profile/sass/sass_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/code/code_images.h"
#include "cuda-trace/profile/sass/sass_lines.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/cli/writer.h"

#define MAX_LINES    10 /* of a function */
#define NAME_COLUMNS 200

/* "32.0", or what stands for nothing. */
static struct cell figure(char out[16], uint64_t a, uint64_t b)
{
	double ratio = sass_ratio(a, b);

	if (isnan(ratio))
		return (struct cell){.kind = CELL_NONE};
	snprintf(out, 16, "%.1f", ratio);
	return cell_text(out);
}

static void put_row(struct writer *writer, const struct sass_counts *counts, uint64_t whole,
		    const char *where)
{
	const uint64_t *values = counts->values;
	uint64_t executed = values[CUDA_SASS_EXECUTED];
	char text[5][16];
	const struct cell cells[] = {
		cell_count(executed),
		cell_share((double)executed / (whole ? whole : 1)),
		figure(text[0], values[CUDA_SASS_THREADS_ON], executed),
		figure(text[1], values[CUDA_SASS_SECTORS], counts->requests),
		figure(text[2], values[CUDA_SASS_SECTORS_IDEAL], counts->requests),
		figure(text[3], values[CUDA_SASS_WAVEFRONTS], counts->accesses),
		figure(text[4], values[CUDA_SASS_WAVEFRONTS_IDEAL], counts->accesses),
		cell_text(where),
	};

	writer__row(writer, cells);
}

static void put_findings(FILE *file, const struct sass_function *function,
			 const struct sass_line *lines, uint32_t count)
{
	for (int finding = 0; finding < SASS_FINDING_COUNT; finding++) {
		const struct sass_line *line = sass_lines__worst(function, lines, count, finding);
		char because[160], where[600], shown[1300];

		if (!line)
			continue;
		sass_finding__because(finding, function, line, because, sizeof(because));
		pc_images__name(&line->first->at, "", where, sizeof(where));
		fprintf(file, "   look at %s: %s: %s\n     try: %s\n",
			text__show(shown, sizeof(shown), where, NAME_COLUMNS),
			sass_finding__key(finding), because, sass_finding__advice(finding));
	}
}

static void put_function(struct writer *writer, const struct sass_table *table, uint32_t number,
			 struct sass_line *lines)
{
	const struct sass_function *function = &table->functions[number];
	uint32_t count = sass_lines__find(table, number, lines);
	char where[512];

	put_row(writer, &function->counts, table->executed, function->of.name);
	for (uint32_t i = 0; i < count && i < MAX_LINES; i++)
		put_row(writer, &lines[i].counts, table->executed,
			pc_images__name(&lines[i].first->at, "    ", where, sizeof(where)));
	if (count > MAX_LINES)
		fprintf(writer->file, "   ... and %u more lines (--json has all)\n",
			count - MAX_LINES);
	put_findings(writer->file, function, lines, count);
}

void sass_report__text(FILE *file, const struct sass_table *table, uint64_t most)
{
	static const struct column columns[] = {
		{"executed", "EXECUTED", 13, 0},
		{"share", "SHARE", 6, 0},
		{"threads", "THREADS", 7, 0},
		{"sectors", "SECTORS", 7, 0},
		{"sectors_ideal", "IDEAL", 5, 0},
		{"wavefronts", "WAVES", 5, 0},
		{"wavefronts_ideal", "IDEAL", 5, 0},
		{"where", "FUNCTION AND LINES IN IT", 0, COLUMN_LEFT},
	};
	struct writer writer = {
		.file = file,
		.columns = columns,
		.count = sizeof(columns) / sizeof(columns[0]),
		.indent = 1,
	};
	struct sass_line *lines = calloc(table->instruction_count + 1, sizeof(*lines));
	const struct code_table code = code_table_of(table);
	uint32_t shown = 0;

	if (table->function_count)
		fprintf(file, "\nFunctions by instructions of their warps; threads an instruction, "
			      "sectors a\nrequest of global memory, wavefronts an access of shared "
			      "memory\n");
	for (; lines && shown < table->function_count && shown < most; shown++)
		put_function(&writer, table, shown, lines);
	if (shown < table->function_count)
		fprintf(file, " ... and %u more (-n %u shows all)\n", table->function_count - shown,
			table->function_count);
	code_table__say_lines_from(file, &code);
	if (table->unkept)
		fprintf(file, "%" PRIu64 " instructions exceeded the table's limit\n",
			table->unkept);
	free(lines);
}
