// SPDX-License-Identifier: BSD-2-Clause
/* Tables: widths are taken from the first thousand rows, so that any number of rows streams. */
#include "cuda-trace/report/report_output.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/number_text.h"
#include "cuda-trace/base/text.h"

#define MEASURED   1000 /* rows kept for the widths */
#define WIDE	   60	/* columns of text at most, unless it is the last column */
#define CELL	   8192
#define NAME_WIDTH 96
/* The unit is at the number in text. */
#define RATE_COLUMN  "GB_per_s"
#define RATE_HEADING "throughput"

enum unit { UNIT_NONE, UNIT_NS, UNIT_BYTES, UNIT_RATE, UNIT_PERCENT, UNIT_HEX, UNIT_ID };

static const struct {
	const char *suffix;
	enum unit unit;
} suffixes[] = {
	{"_ns", UNIT_NS},
	{"_bytes", UNIT_BYTES},
	{"_pct", UNIT_PERCENT},
	{"_hex", UNIT_HEX},
};

/* Numbers that name something: no thousands separators. */
static const char *const ids[] = {"pid",    "tid",   "uid",  "device",
				  "stream", "graph", "code", "cupti"};

static enum unit unit_of(const char *name, size_t *length)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t s = strlen(suffixes[i].suffix);

		if (n > s && !strcmp(name + n - s, suffixes[i].suffix)) {
			*length = n - s;
			return suffixes[i].unit;
		}
	}
	*length = n;
	if (!strcmp(name, RATE_COLUMN))
		return UNIT_RATE;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (!strcmp(name, ids[i]))
			return UNIT_ID;
	return UNIT_NONE;
}

const char *report_output__bytes(char out[16], int64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double number = bytes;
	int i = 0;

	while (i < 6 && (number >= 1023.995 || number <= -1023.995)) {
		number /= 1024;
		i++;
	}
	snprintf(out, 16, i ? "%.2f %s" : "%.0f %s", number, units[i]);
	return out;
}

static void format_number(char *out, size_t size, sqlite3_stmt *statement, int column,
			  enum unit unit)
{
	int64_t value = sqlite3_column_int64(statement, column);
	char small[32];

	switch (unit) {
	case UNIT_NS:
		snprintf(out, size, "%s%s", value < 0 ? "-" : "",
			 text__ns(small, value < 0 ? -(uint64_t)value : (uint64_t)value));
		return;
	case UNIT_BYTES:
		snprintf(out, size, "%s", report_output__bytes(small, value));
		return;
	case UNIT_RATE:
		snprintf(out, size, "%.2f GB/s", sqlite3_column_double(statement, column));
		return;
	case UNIT_PERCENT:
		snprintf(out, size, "%.1f%%", sqlite3_column_double(statement, column));
		return;
	case UNIT_HEX:
		snprintf(out, size, "0x%" PRIx64, (uint64_t)value);
		return;
	case UNIT_ID:
		snprintf(out, size, "%" PRId64, value);
		return;
	case UNIT_NONE:
		break;
	}
	if (sqlite3_column_type(statement, column) == SQLITE_FLOAT)
		snprintf(out, size, "%.4g", sqlite3_column_double(statement, column));
	else
		snprintf(out, size, "%s%s", value < 0 ? "-" : "",
			 text__count(small, value < 0 ? -(uint64_t)value : (uint64_t)value));
}

static const char *blob_text(sqlite3_stmt *statement, int column, char *out, size_t size)
{
	snprintf(out, size, "[%d bytes]", sqlite3_column_bytes(statement, column));
	return out;
}

static bool is_number(int type)
{
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static char *cell_text(sqlite3_stmt *statement, int column, enum unit unit, bool last)
{
	int type = sqlite3_column_type(statement, column);
	char cell[CELL], raw[64];
	const char *text;

	if (type == SQLITE_NULL)
		return strdup("");
	if (is_number(type)) {
		format_number(cell, sizeof(cell), statement, column, unit);
		return strdup(cell);
	}
	text = type == SQLITE_BLOB ? blob_text(statement, column, raw, sizeof(raw))
				   : (const char *)sqlite3_column_text(statement, column);
	return strdup(text__show(cell, sizeof(cell), text ? text : "", last ? 0 : WIDE));
}

/* Characters, not bytes: text__show leaves only valid UTF-8. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

struct table {
	int columns;
	enum unit *units;
	int *widths;
	bool *right;
	char **cells; /* of the rows that wait for the widths */
	int64_t rows;
};

static void write_cell(FILE *out, const struct table *table, int column, const char *text)
{
	int pad = table->widths[column] - width_of(text);

	if (column)
		fputs("  ", out);
	if (table->right[column])
		fprintf(out, "%*s%s", pad > 0 ? pad : 0, "", text);
	else
		fprintf(out, "%s%*s", text, pad > 0 && column + 1 < table->columns ? pad : 0, "");
}

static bool has_other(sqlite3_stmt *statement, int column, const char *stem, size_t length)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);
		size_t n;

		unit_of(name, &n);
		if (i != column && n == length && !strncmp(name, stem, n))
			return true;
	}
	return false;
}

/* Units are at the numbers, but for what would be two columns of one name. */
static void write_heading(char heading[NAME_WIDTH], sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column), *tail = "";
	size_t length;
	enum unit unit = unit_of(name, &length);

	if (unit == UNIT_PERCENT)
		tail = " %";
	else if (unit == UNIT_BYTES && has_other(statement, column, name, length))
		tail = " bytes";
	else if (unit == UNIT_RATE)
		name = RATE_HEADING;
	snprintf(heading, NAME_WIDTH, "%.*s%s",
		 unit == UNIT_RATE ? 80 : (int)(length < 80 ? length : 80), name, tail);
	for (char *at = heading; *at; at++)
		*at = *at == '_' ? ' ' : toupper((unsigned char)*at);
}

static void write_header(FILE *out, const struct table *table, sqlite3_stmt *statement)
{
	for (int i = 0; i < table->columns; i++) {
		char heading[NAME_WIDTH], shown[NAME_WIDTH * 4 + 8];

		write_heading(heading, statement, i);
		write_cell(out, table, i, text__show(shown, sizeof(shown), heading, 0));
	}
	putc('\n', out);
}

static void write_waiting(FILE *out, struct table *table, sqlite3_stmt *statement)
{
	int64_t rows = table->rows < MEASURED ? table->rows : MEASURED;

	write_header(out, table, statement);
	for (int64_t r = 0; r < rows; r++) {
		for (int i = 0; i < table->columns; i++) {
			char **cell = &table->cells[r * table->columns + i];

			write_cell(out, table, i, *cell ? *cell : "");
			free(*cell);
		}
		putc('\n', out);
	}
}

static void put_row(FILE *out, struct table *table, sqlite3_stmt *statement)
{
	for (int i = 0; i < table->columns; i++) {
		char *cell = cell_text(statement, i, table->units[i], i + 1 == table->columns);
		int width = cell ? width_of(cell) : 0;

		if (table->rows >= MEASURED) {
			write_cell(out, table, i, cell ? cell : "");
			free(cell);
			continue;
		}
		if (!table->rows)
			table->right[i] = is_number(sqlite3_column_type(statement, i));
		if (width > table->widths[i])
			table->widths[i] = width;
		table->cells[table->rows * table->columns + i] = cell;
	}
	if (table->rows++ >= MEASURED)
		putc('\n', out);
	else if (table->rows == MEASURED)
		write_waiting(out, table, statement);
}

static void free_table(struct table *table)
{
	free(table->units);
	free(table->widths);
	free(table->right);
	free(table->cells);
}

static int new_table(struct table *table, sqlite3_stmt *statement)
{
	int n = sqlite3_column_count(statement);

	table->columns = n;
	table->units = calloc(n, sizeof(*table->units));
	table->widths = calloc(n, sizeof(*table->widths));
	table->right = calloc(n, sizeof(*table->right));
	table->cells = calloc((size_t)MEASURED * n, sizeof(*table->cells));
	if (!table->units || !table->widths || !table->right || !table->cells)
		return -1;
	for (int i = 0; i < n; i++) {
		char heading[NAME_WIDTH];
		size_t length;

		table->units[i] = unit_of(sqlite3_column_name(statement, i), &length);
		write_heading(heading, statement, i);
		table->widths[i] = width_of(heading);
	}
	return 0;
}

static int64_t write_text(FILE *out, const char *title, sqlite3_stmt *statement)
{
	struct table table = {0};
	int code = SQLITE_ERROR;

	if (!new_table(&table, statement)) {
		if (title)
			fprintf(out, "%s\n", title);
		while ((code = sqlite3_step(statement)) == SQLITE_ROW)
			put_row(out, &table, statement);
		if (table.rows && table.rows < MEASURED)
			write_waiting(out, &table, statement);
		else if (!table.rows && code == SQLITE_DONE)
			fputs("(nothing)\n", out);
	}
	free_table(&table);
	return code == SQLITE_DONE ? table.rows : -1;
}

void report_output__csv(FILE *out, const char *text)
{
	/* Spreadsheets run what begins like this; an apostrophe makes it text. */
	bool formula = *text && strchr("=+-@\t\r", *text);

	if (!formula && !strpbrk(text, ",\"\n\r'")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	if (formula)
		putc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void write_csv_cell(FILE *out, sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);
	char cell[CELL], raw[64];
	const char *text;

	if (is_number(type)) {
		fputs((const char *)sqlite3_column_text(statement, column), out);
	} else if (type != SQLITE_NULL) {
		text = type == SQLITE_BLOB ? blob_text(statement, column, raw, sizeof(raw))
					   : (const char *)sqlite3_column_text(statement, column);
		report_output__csv(out, text__show(cell, sizeof(cell), text ? text : "", 0));
	}
}

static int64_t write_csv(FILE *out, sqlite3_stmt *statement)
{
	int n = sqlite3_column_count(statement), code;
	int64_t rows = 0;

	for (int i = 0; i < n; i++) {
		if (i)
			putc(',', out);
		report_output__csv(out, sqlite3_column_name(statement, i));
	}
	putc('\n', out);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++) {
			if (i)
				putc(',', out);
			write_csv_cell(out, statement, i);
		}
		putc('\n', out);
		rows++;
	}
	return code == SQLITE_DONE ? rows : -1;
}

static void write_json_cell(FILE *out, sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);
	char raw[64];
	const char *text;

	if (type == SQLITE_NULL) {
		fputs("null", out);
	} else if (type == SQLITE_INTEGER) {
		fprintf(out, "%lld", (long long)sqlite3_column_int64(statement, column));
	} else if (type == SQLITE_FLOAT) {
		double value = sqlite3_column_double(statement, column);

		/* JSON has no infinities. */
		if (value - value == 0)
			fputs(number__shortest(raw, value), out);
		else
			fputs("null", out);
	} else {
		text = type == SQLITE_BLOB ? blob_text(statement, column, raw, sizeof(raw))
					   : (const char *)sqlite3_column_text(statement, column);
		text__write_json(out, text ? text : "");
	}
}

static int64_t write_json(FILE *out, const char *key, sqlite3_stmt *statement)
{
	int n = sqlite3_column_count(statement), code;
	int64_t rows = 0;

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		putc('{', out);
		if (key) {
			fputs("\"table\":", out);
			text__write_json(out, key);
		}
		for (int i = 0; i < n; i++) {
			if (i || key)
				putc(',', out);
			text__write_json(out, sqlite3_column_name(statement, i));
			putc(':', out);
			write_json_cell(out, statement, i);
		}
		fputs("}\n", out);
		rows++;
	}
	return code == SQLITE_DONE ? rows : -1;
}

int64_t report_output__write(FILE *out, enum report_format format, const char *key,
			     const char *title, sqlite3_stmt *statement)
{
	switch (format) {
	case REPORT_CSV:
		return write_csv(out, statement);
	case REPORT_JSON:
		return write_json(out, key, statement);
	default:
		return write_text(out, title, statement);
	}
}
