// SPDX-License-Identifier: BSD-2-Clause
/*
 * ALTER TABLE ADD COLUMN does not touch rows: SQLite gives those that lack the column its default.
 * So each change of a value costs its column once, and one that never changes costs nothing.
 */
#include "cuda-trace/recording/store_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/recording/store_db.h"

/* Where a column's value stands among those of an insert; -1 = nowhere. */
static int index_in(const char *names, const char *column)
{
	size_t length = strlen(column);

	for (int i = 0; *names; i++) {
		size_t n = strcspn(names, ",");

		if (n == length && !strncmp(names, column, n))
			return i;
		names += n + (names[n] == ',');
	}
	return -1;
}

static int add_column(struct table *table, sqlite3_stmt *row, const char *names)
{
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const char *type = (const char *)sqlite3_column_text(row, 1);
	struct table_column *column = &table->columns[table->count];

	if (table->count == TABLE_COLUMNS || !name || !type)
		return SQLITE_NOMEM;
	column->required = sqlite3_column_int(row, 2);
	column->value = index_in(names, name);
	column->name = strdup(name);
	column->declared = sqlite3_column_type(row, 3) != SQLITE_NULL;
	if (asprintf(&column->declaration, "\"%s\" %s%s%s%s", name, type,
		     column->required ? " NOT NULL" : "", column->declared ? " DEFAULT " : "",
		     column->declared ? (const char *)sqlite3_column_text(row, 3) : "") < 0)
		column->declaration = NULL;
	table->count++;
	return column->name && column->declaration ? SQLITE_OK : SQLITE_NOMEM;
}

int table__open(struct table *table, sqlite3 *handle, const char *name, const char *names)
{
	sqlite3_stmt *statement;
	int code;

	*table = (struct table){.handle = handle, .name = name};
	code = sqlite3_prepare_v2(handle,
				  "SELECT name, type, \"notnull\", dflt_value FROM "
				  "pragma_table_info(?)",
				  -1, &statement, NULL);
	if (code)
		return code;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	while (!code && sqlite3_step(statement) == SQLITE_ROW)
		code = add_column(table, statement, names);
	sqlite3_finalize(statement);
	return code;
}

static int run(struct table *table, char *sql)
{
	int code = sql ? sqlite3_exec(table->handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return code;
}

/* What rows without the column have in it. */
static int alter(struct table *table, const struct table_column *column, int64_t same)
{
	if (column->declared || (same == DB_NULL && !column->required))
		return run(table, sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN %s", table->name,
						  column->declaration));
	return run(table,
		   sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN %s DEFAULT %lld", table->name,
				   column->declaration, (long long)(same == DB_NULL ? 0 : same)));
}

static void store(struct table *table, struct table_column *column)
{
	column->stored = true;
	table->order[table->stored++] = column->value;
}

static int prepare(struct table *table)
{
	sqlite3_str *sql = sqlite3_str_new(table->handle);
	char *text;
	int code;

	sqlite3_finalize(table->insert);
	table->insert = NULL;
	sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES (?", table->name);
	for (int i = 1; i < table->stored; i++)
		sqlite3_str_appendall(sql, ",?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	code = text ? sqlite3_prepare_v3(table->handle, text, -1, SQLITE_PREPARE_PERSISTENT,
					 &table->insert, NULL)
		    : SQLITE_NOMEM;
	sqlite3_free(text);
	return code;
}

/* The first row: the table starts again with its first column alone. */
static int begin(struct table *table, const int64_t *values)
{
	int code;

	code = run(table, sqlite3_mprintf("DROP TABLE \"%w\"; CREATE TABLE \"%w\" (%s)",
					  table->name, table->name, table->columns[0].declaration));
	for (int i = 0; i < table->count; i++) {
		struct table_column *column = &table->columns[i];

		column->same = column->value < 0 ? DB_NULL : values[column->value];
	}
	store(table, &table->columns[0]);
	return code ? code : prepare(table);
}

/* Stores the columns whose value is another than in all rows before. */
static int widen(struct table *table, const int64_t *values)
{
	int code = SQLITE_OK, before = table->stored;

	for (int i = 0; !code && i < table->count; i++) {
		struct table_column *column = &table->columns[i];

		if (column->stored || column->value < 0 || values[column->value] == column->same)
			continue;
		code = alter(table, column, column->same);
		store(table, column);
	}
	return code || table->stored == before ? code : prepare(table);
}

int table__insert(struct table *table, const int64_t *values)
{
	int code = table->stored ? widen(table, values) : begin(table, values);

	if (code)
		return code;
	for (int i = 0; i < table->stored; i++) {
		int64_t value = values[table->order[i]];

		if (value == DB_NULL)
			sqlite3_bind_null(table->insert, i + 1);
		else
			sqlite3_bind_int64(table->insert, i + 1, value);
	}
	code = sqlite3_step(table->insert);
	sqlite3_reset(table->insert);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int table__finish(struct table *table)
{
	int code = SQLITE_OK;

	sqlite3_finalize(table->insert);
	table->insert = NULL;
	for (int i = 0; table->stored && !code && i < table->count; i++)
		if (!table->columns[i].stored)
			code = alter(table, &table->columns[i], table->columns[i].same);
	return code;
}

void table__close(struct table *table)
{
	sqlite3_finalize(table->insert);
	for (int i = 0; i < table->count; i++) {
		free(table->columns[i].name);
		free(table->columns[i].declaration);
	}
	memset(table, 0, sizeof(*table));
}
