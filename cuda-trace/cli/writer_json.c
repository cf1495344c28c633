// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows as JSON objects, one a line. Written directly and not through json-c, whose object for every
 * value would cost several times the row itself; a trace writes hundreds of thousands a second.
 */
#include "cuda-trace/cli/writer.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>
#include "cuda-trace/base/number_text.h"
#include "cuda-trace/base/text.h"

static void put_clock(FILE *file, uint64_t monotonic)
{
	uint64_t wall = writer__wall_clock(monotonic);
	time_t second = wall / 1000000000;
	struct tm tm;

	gmtime_r(&second, &tm);
	fprintf(file, "\"%04d-%02d-%02dT%02d:%02d:%02d.%09uZ\"", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned int)(wall % 1000000000));
}

void writer_json__cell(FILE *file, const struct cell *cell)
{
	char text[NUMBER_TEXT_SIZE];

	switch (cell->kind) {
	case CELL_NONE:
		fputs("null", file);
		break;
	case CELL_TEXT:
		if (cell->text)
			text__write_json(file, cell->text);
		else
			fputs("null", file);
		break;
	case CELL_JSON:
		fputs(cell->text ? cell->text : "null", file);
		break;
	case CELL_NUMBER:
	case CELL_COUNT:
	case CELL_NS:
	case CELL_BYTES:
		fprintf(file, "%" PRIu64, cell->number);
		break;
	case CELL_SIGNED:
		fprintf(file, "%" PRId64, cell->signed_number);
		break;
	case CELL_TRIPLE:
		fprintf(file, "[%u,%u,%u]", cell->triple[0], cell->triple[1], cell->triple[2]);
		break;
	case CELL_CLOCK:
		put_clock(file, cell->number);
		break;
	case CELL_SHARE:
	case CELL_RATE:
	case CELL_REAL:
		fputs(isfinite(cell->real) ? number__shortest(text, cell->real) : "null", file);
		break;
	case CELL_BOOL:
		fputs(cell->yes ? "true" : "false", file);
		break;
	}
}

void writer_json__row(struct writer *writer, const struct cell *cells)
{
	char lead = '{';

	for (int i = 0; i < writer->count; i++) {
		if (writer->columns[i].flags & COLUMN_TEXT)
			continue;
		if (writer->columns[i].flags & COLUMN_IF_SET && cells[i].kind == CELL_NONE)
			continue;
		fprintf(writer->file, "%c\"%s\":", lead, writer->columns[i].key);
		writer_json__cell(writer->file, &cells[i]);
		lead = ',';
	}
	fputs("}\n", writer->file);
}
