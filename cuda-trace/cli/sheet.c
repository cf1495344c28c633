// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/cli/sheet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include "cuda-trace/base/text.h"

/* ---- JSON ---- */

static void put_text(struct sheet *sheet, const char *text)
{
	(sheet->plain ? text__write_json_plain : text__write_json)(sheet->file, text);
}

/* What stands before a value: a comma, its key. */
static void lead(struct sheet *sheet, const char *key)
{
	if (sheet->filled[sheet->depth])
		putc(',', sheet->file);
	sheet->filled[sheet->depth] = true;
	if (!key)
		return;
	put_text(sheet, key);
	putc(':', sheet->file);
}

void sheet__open(struct sheet *sheet, const char *key, char bracket)
{
	if (!sheet->json)
		return;
	lead(sheet, key);
	putc(bracket, sheet->file);
	sheet->closes[sheet->depth++] = bracket == '{' ? '}' : ']';
	sheet->filled[sheet->depth] = false;
}

void sheet__close(struct sheet *sheet)
{
	if (!sheet->json)
		return;
	putc(sheet->closes[--sheet->depth], sheet->file);
	if (sheet->depth)
		return;
	putc('\n', sheet->file);
	sheet->filled[0] = false;
}

void sheet__put(struct sheet *sheet, const char *key, struct cell cell)
{
	if (!sheet->json)
		return;
	lead(sheet, key);
	if (cell.kind == CELL_TEXT && cell.text)
		put_text(sheet, cell.text);
	else
		writer_json__cell(sheet->file, &cell);
}

/* ---- text ---- */

void sheet__say(struct sheet *sheet, const char *format, ...)
{
	va_list arguments;

	if (sheet->json)
		return;
	va_start(arguments, format);
	vfprintf(sheet->file, format, arguments);
	va_end(arguments);
}

void sheet__say_more(struct sheet *sheet)
{
	if (sheet->left)
		sheet__say(sheet, " ... and %" PRIu64 " more (-n %" PRIu64 " shows all)\n",
			   sheet->left, sheet->shown + sheet->left);
}

static void put_line(struct sheet *sheet, bool titles)
{
	for (int i = 0; i < SHEET_COLUMNS; i++) {
		struct sheet_column *column = &sheet->columns[i];

		if (!column->shown)
			continue;
		putc(' ', sheet->file);
		writer_text__put(sheet->file, &column->column,
				 titles ? column->column.title : column->shown);
	}
	putc('\n', sheet->file);
}

/* ---- both ---- */

void sheet__title(struct sheet *sheet, const char *title, uint64_t most)
{
	sheet->title = title;
	sheet->most = most;
	sheet->shown = sheet->left = 0;
	sheet->headed = false;
}

void sheet__begin(struct sheet *sheet, const char *key, const char *title, uint64_t most)
{
	sheet__title(sheet, title, most);
	sheet__open(sheet, key, '[');
}

bool sheet__row(struct sheet *sheet, const char *key)
{
	if (!sheet->json && sheet->shown == sheet->most) {
		sheet->left++;
		return false;
	}
	sheet->shown++;
	sheet__open(sheet, key, '{');
	return true;
}

void sheet__column(struct sheet *sheet, int place, const char *title, int width, const char *key,
		   struct cell cell)
{
	struct sheet_column *to;

	if (key)
		sheet__put(sheet, key, cell);
	if (sheet->json || place < 0)
		return;
	to = &sheet->columns[place];
	to->column = (struct column){key, title, abs(width), width > 0 ? 0 : COLUMN_LEFT};
	to->shown = writer_text__format(&to->column, &cell, to->text, 0);
}

void sheet__row_end(struct sheet *sheet)
{
	sheet__close(sheet);
	if (sheet->json)
		return;
	if (!sheet->headed) {
		if (sheet->title)
			fprintf(sheet->file, "%s\n", sheet->title);
		put_line(sheet, true);
		sheet->headed = true;
	}
	put_line(sheet, false);
	for (int i = 0; i < SHEET_COLUMNS; i++)
		sheet->columns[i].shown = NULL;
}

void sheet__end(struct sheet *sheet)
{
	sheet__close(sheet);
}
