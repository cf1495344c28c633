// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows are written while they are read. Where a value does not fit its column, the table is looked
 * through and written again, with columns that take all that is there.
 */
#include "cuda-trace/columns/table_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/columns/parquet_writer.h"
#include "cuda-trace/report/report_scan.h"

#define EXACT (1ll << 53) /* as far as a double has every integer */

enum seen {
	SEEN_NUMBER = 1,
	SEEN_LARGE = 2, /* no double */
	SEEN_REAL = 4,
	SEEN_TEXT = 8,
	SEEN_BYTES = 16, /* also text that is not UTF-8 */
};

struct pass {
	struct table_export *table;
	struct parquet_writer *writer;
	int err; /* not reported yet */
};

static enum parquet_type declared_type(const struct table_column *column)
{
	if (column->names || strcasestr(column->type, "char") || strcasestr(column->type, "text"))
		return PARQUET_TEXT;
	if (strcasestr(column->type, "blob"))
		return PARQUET_BYTES;
	if (strcasestr(column->type, "real") || strcasestr(column->type, "floa") ||
	    strcasestr(column->type, "doub"))
		return PARQUET_DOUBLE;
	return PARQUET_INT64;
}

/* What takes everything that was seen. */
static enum parquet_type fitting_type(const struct table_column *column)
{
	unsigned seen = column->seen;

	if (seen & SEEN_BYTES)
		return PARQUET_BYTES;
	if (seen & SEEN_TEXT || (seen & SEEN_REAL && seen & SEEN_LARGE))
		return PARQUET_TEXT;
	if (seen & SEEN_REAL)
		return PARQUET_DOUBLE;
	return seen & SEEN_NUMBER ? PARQUET_INT64 : (enum parquet_type)column->kind;
}

static unsigned look(sqlite3_value *value)
{
	int64_t number;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		number = sqlite3_value_int64(value);
		return SEEN_NUMBER | (number > EXACT || number < -EXACT ? SEEN_LARGE : 0);
	case SQLITE_FLOAT:
		return SEEN_REAL;
	case SQLITE_TEXT: {
		const char *text = (const char *)sqlite3_value_text(value);

		return text && text__is_utf8(text, (size_t)sqlite3_value_bytes(value)) ? SEEN_TEXT
										       : SEEN_BYTES;
	}
	case SQLITE_BLOB:
		return SEEN_BYTES;
	default:
		return 0;
	}
}

static bool fits(const struct table_column *column, unsigned seen)
{
	switch (column->kind) {
	case PARQUET_INT64:
		return !(seen & ~(SEEN_NUMBER | SEEN_LARGE));
	case PARQUET_DOUBLE:
		return !(seen & ~(SEEN_NUMBER | SEEN_REAL));
	case PARQUET_TEXT:
		/* Numbers of a column that has texts, too, are written as SQLite shows them. */
		return !(seen & SEEN_BYTES);
	default:
		return true;
	}
}

/* False: it does not fit. */
static bool put_number(struct parquet_column *out, sqlite3_value *value)
{
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		parquet_column__number(out, sqlite3_value_int64(value));
		return true;
	case SQLITE_NULL:
		parquet_column__null(out);
		return true;
	default:
		return false;
	}
}

static void put_bytes(struct parquet_column *out, sqlite3_value *value)
{
	const void *data = sqlite3_value_type(value) == SQLITE_BLOB
				   ? sqlite3_value_blob(value)
				   : (const void *)sqlite3_value_text(value);

	parquet_column__bytes(out, data, data ? (size_t)sqlite3_value_bytes(value) : 0);
}

static bool put(const struct table_column *column, struct parquet_column *out, sqlite3_value *value)
{
	if (column->kind == PARQUET_INT64)
		return put_number(out, value);
	if (sqlite3_value_type(value) == SQLITE_NULL)
		parquet_column__null(out);
	else if (column->names)
		parquet_column__number(out, sqlite3_value_int64(value));
	else if (!fits(column, look(value)))
		return false;
	else if (column->kind == PARQUET_DOUBLE)
		parquet_column__real(out, sqlite3_value_double(value));
	else
		put_bytes(out, value);
	return true;
}

static int write_row(void *context, int count, sqlite3_value **values)
{
	struct pass *pass = context;

	for (int i = 0; i < count; i++)
		if (!put(&pass->table->columns[i], parquet_writer__column(pass->writer, i),
			 values[i]))
			return -EDOM;
	pass->err = parquet_writer__end_row(pass->writer);
	return pass->err;
}

static int look_at_row(void *context, int count, sqlite3_value **values)
{
	struct pass *pass = context;

	for (int i = 0; i < count; i++)
		pass->table->columns[i].seen |= look(values[i]);
	return 0;
}

/* Names of a hostile file need not be UTF-8. */
static bool copy_name(struct table_column *column, const char *text, size_t *size)
{
	bool valid = text__is_utf8(text, *size);
	size_t needed = valid ? *size + 1 : 4 * *size + 4;

	free(column->shown);
	column->shown = malloc(needed);
	if (!column->shown)
		return false;
	if (valid) {
		memcpy(column->shown, text, needed);
	} else {
		text__show(column->shown, needed, text, 0);
		*size = strlen(column->shown);
	}
	return true;
}

static bool name_of(void *context, int64_t number, const void **text, size_t *size)
{
	struct table_column *column = context;
	const char *name = NULL;
	bool found = false;

	sqlite3_bind_int64(column->lookup, 1, number);
	if (sqlite3_step(column->lookup) == SQLITE_ROW)
		name = (const char *)sqlite3_column_text(column->lookup, 0);
	if (name) {
		*size = (size_t)sqlite3_column_bytes(column->lookup, 0);
		found = copy_name(column, name, size);
		*text = column->shown;
	}
	/* While a statement is at a row, SQLite removes no functions. */
	sqlite3_reset(column->lookup);
	return found;
}

static char *select_of(const struct table_export *table)
{
	sqlite3_str *sql = sqlite3_str_new(table->file->db);

	sqlite3_str_appendall(sql, "SELECT ");
	for (uint32_t i = 0; i < table->count; i++)
		sqlite3_str_appendf(sql, "%s%s", i ? ", " : "", table->columns[i].expression);
	sqlite3_str_appendf(sql, " %s", table->from);
	return sqlite3_str_finish(sql);
}

static struct parquet_writer *new_writer(const struct table_export *table, FILE *out)
{
	struct parquet_writer *writer = parquet_writer__new(out);
	bool fine = writer;

	for (uint32_t i = 0; fine && i < table->count; i++) {
		struct table_column *column = &table->columns[i];

		fine = parquet_writer__add(writer, column->name, column->kind,
					   column->names ? name_of : NULL, column);
	}
	if (fine)
		return writer;
	parquet_writer__free(writer);
	return NULL;
}

/* -EDOM: a value did not fit. Errors are in pass->err, too, if they have not been reported. */
static int write_all(struct pass *pass, const char *sql, FILE *out)
{
	int err;

	pass->err = 0;
	pass->writer = new_writer(pass->table, out);
	if (!pass->writer)
		return pass->err = -ENOMEM;
	err = scan__run(pass->table->file, sql, write_row, pass);
	if (!err)
		err = pass->err = parquet_writer__finish(pass->writer);
	parquet_writer__free(pass->writer);
	return err;
}

static void change_types(struct table_export *table)
{
	static const char *const words[] = {"integers", "doubles", "text", "bytes"};

	for (uint32_t i = 0; i < table->count; i++) {
		struct table_column *column = &table->columns[i];
		char shown[512];

		if (column->names || fits(column, column->seen))
			continue;
		column->kind = fitting_type(column);
		fprintf(stderr,
			"cuda-trace report: %s.parquet: column %s has values of another type than "
			"its table says: all are %s\n",
			table->name, text__show(shown, sizeof(shown), column->name, 80),
			words[column->kind]);
	}
}

static int write_again(struct pass *pass, const char *sql, FILE *out)
{
	int err = scan__run(pass->table->file, sql, look_at_row, pass);

	if (err)
		return err;
	change_types(pass->table);
	rewind(out);
	if (ftruncate(fileno(out), 0))
		return pass->err = -errno;
	err = write_all(pass, sql, out);
	/* Somebody writes to it. */
	return err == -EDOM ? pass->err = -EBUSY : err;
}

static int write_rows(struct table_export *table, struct parquet_folder *folder, const char *sql)
{
	struct pass pass = {.table = table};
	FILE *out = parquet_folder__create(folder, table->name);
	int err;

	if (!out)
		return -EIO;
	err = write_all(&pass, sql, out);
	if (err == -EDOM)
		err = write_again(&pass, sql, out);
	if (err && !pass.err) {
		fclose(out);
		return err;
	}
	return parquet_folder__close_file(folder, out, pass.err);
}

static int prepare(struct table_export *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct table_column *column = &table->columns[i];

		column->kind = declared_type(column);
		if (column->names &&
		    sqlite3_prepare_v2(table->file->db, column->names, -1, &column->lookup, NULL))
			return report_file__complain(table->file);
	}
	return 0;
}

int table_export__write(struct table_export *table, struct parquet_folder *folder)
{
	int err = prepare(table);
	char *sql = err ? NULL : select_of(table);

	if (!err)
		err = sql ? write_rows(table, folder, sql) : -ENOMEM;
	sqlite3_free(sql);
	for (uint32_t i = 0; i < table->count; i++) {
		sqlite3_finalize(table->columns[i].lookup);
		free(table->columns[i].shown);
	}
	return err;
}
