// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows as aligned columns. Called through writer__row().
 */
#include "cuda-trace/cli/writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/base/text.h"

#define LONGEST_LAST ((WRITER_CELL_SIZE - 8) / 4) /* characters of the last column */

static bool is_shown(const struct writer *writer, const struct column *column)
{
	return !(column->flags & COLUMN_JSON) && (writer->wide || !(column->flags & COLUMN_WIDE)) &&
	       !writer->left_out[column - writer->columns];
}

#define LEAST_LAST 24 /* characters of the last column, where others are left out for it */

static int width_of(const struct writer *writer)
{
	int width = writer->indent;

	for (int i = 0; i < writer->count; i++)
		if (is_shown(writer, &writer->columns[i]))
			width += 1 +
				 (writer->columns[i].width ? writer->columns[i].width : LEAST_LAST);
	return width - 1;
}

void writer__fit(struct writer *writer, int fit, const int *order, int count)
{
	writer->fit = fit;
	for (int i = 0; i < count && width_of(writer) > fit; i++)
		writer->left_out[order[i]] = true;
}

/* printf's widths count bytes; names may hold wider characters. */
static int columns_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

int writer_text__put(FILE *file, const struct column *column, const char *text)
{
	int length = columns_of(text);
	int blanks = column->width - length;

	if (blanks < 0)
		blanks = 0;
	if (column->flags & COLUMN_LEFT || !column->width)
		fprintf(file, "%s%*s", text, blanks, "");
	else
		fprintf(file, "%*s%s", blanks, "", text);
	return length + blanks;
}

static void put_header(struct writer *writer)
{
	bool first = true;

	fprintf(writer->file, "%*s", writer->indent, "");
	for (int i = 0; i < writer->count; i++) {
		if (!is_shown(writer, &writer->columns[i]))
			continue;
		if (!first)
			putc(' ', writer->file);
		first = false;
		writer_text__put(writer->file, &writer->columns[i], writer->columns[i].title);
	}
	putc('\n', writer->file);
	writer->headed = true;
}

void writer__header(struct writer *writer)
{
	if (!writer->json && !writer->headed)
		put_header(writer);
}

/* localtime_r() takes a lock and reads the zone file's rules: once a second is enough. */
static void format_clock(char *out, size_t size, uint64_t monotonic)
{
	static time_t known = -1;
	static char hms[16];
	uint64_t wall = writer__wall_clock(monotonic);
	time_t second = wall / 1000000000;
	struct tm tm;

	if (second != known) {
		localtime_r(&second, &tm);
		strftime(hms, sizeof(hms), "%H:%M:%S", &tm);
		known = second;
	}
	snprintf(out, size, "%s.%06u", hms, (unsigned int)(wall % 1000000000 / 1000));
}

static const char *format_bytes(char *out, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double number = bytes;
	size_t unit = 0;

	for (; number >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		number /= 1024;
	snprintf(out, size, unit ? "%.2f %s" : "%.0f %s", number, units[unit]);
	return out;
}

const char *writer_text__format(const struct column *column, const struct cell *cell,
				char out[WRITER_CELL_SIZE], int last)
{
	const size_t size = WRITER_CELL_SIZE;
	bool whole = !column->width || column->flags & COLUMN_WHOLE;

	switch (cell->kind) {
	case CELL_NONE:
		return "-";
	case CELL_JSON:
	case CELL_TEXT:
		if (!cell->text || !*cell->text)
			return "-";
		return text__show(out, size, cell->text,
				  whole ? last ? last : LONGEST_LAST : column->width);
	case CELL_NUMBER:
		snprintf(out, size, "%" PRIu64, cell->number);
		return out;
	case CELL_SIGNED:
		snprintf(out, size, "%" PRId64, cell->signed_number);
		return out;
	case CELL_COUNT:
		return text__count(out, cell->number);
	case CELL_NS:
		return text__ns(out, cell->number);
	case CELL_TRIPLE:
		snprintf(out, size, "%ux%ux%u", cell->triple[0], cell->triple[1], cell->triple[2]);
		return out;
	case CELL_CLOCK:
		format_clock(out, size, cell->number);
		return out;
	case CELL_SHARE:
		snprintf(out, size, "%.1f%%", 100 * cell->share);
		return out;
	case CELL_BOOL:
		return cell->yes ? "yes" : "no";
	case CELL_BYTES:
		return format_bytes(out, size, cell->number);
	case CELL_RATE:
		snprintf(out, size, "%.2f GB/s", cell->real / 1e9);
		return out;
	case CELL_REAL:
		if (!isfinite(cell->real))
			return "-";
		snprintf(out, size, "%.1f", cell->real);
		return out;
	}
	return "";
}

void writer_text__row(struct writer *writer, const struct cell *cells)
{
	char text[WRITER_CELL_SIZE];
	bool first = true;
	int used = writer->indent;

	if (!writer->headed)
		put_header(writer);
	fprintf(writer->file, "%*s", writer->indent, "");
	for (int i = 0; i < writer->count; i++) {
		int last = 0;

		if (!is_shown(writer, &writer->columns[i]))
			continue;
		if (!first)
			putc(' ', writer->file);
		used += !first;
		first = false;
		if (writer->fit && !writer->columns[i].width)
			last = writer->fit > used + LEAST_LAST / 2 ? writer->fit - used
								   : LEAST_LAST / 2;
		used += writer_text__put(
			writer->file, &writer->columns[i],
			writer_text__format(&writer->columns[i], &cells[i], text, last));
	}
	putc('\n', writer->file);
}
