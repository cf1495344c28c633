// SPDX-License-Identifier: BSD-2-Clause
/*
 * ALTER TABLE ADD COLUMN does not touch rows: SQLite gives those that lack the column its default.
 * So each change of a value costs its column once, and one that never changes costs nothing.
 */
#include "cuda-trace/recording/store_table.h"
#include <stdio.h>
#include <string.h>

static int run(struct table *table, char *sql)
{
	int code = sql ? sqlite3_exec(table->handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return code;
}

/* What rows without the column have in it. */
static int alter(struct table *table, int column)
{
	const struct record_column *of = &table->of->columns[column];
	int64_t same = table->same[column];
	bool required = strstr(of->type, "NOT NULL");

	if (strstr(of->type, "DEFAULT") || (same == DB_NULL && !required))
		return run(table, sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\" %s",
						  table->of->name, of->name, of->type));
	return run(table, sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\" %s DEFAULT %lld",
					  table->of->name, of->name, of->type,
					  (long long)(same == DB_NULL ? 0 : same)));
}

static void store(struct table *table, int column)
{
	table->is_stored[column] = true;
	table->order[table->stored++] = column;
}

static int prepare(struct table *table)
{
	sqlite3_str *sql = sqlite3_str_new(table->handle);
	char *text;
	int code;

	sqlite3_finalize(table->insert);
	table->insert = NULL;
	sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES (?", table->of->name);
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
	const char *name = table->of->name;
	int code;

	code = run(table,
		   sqlite3_mprintf("DROP TABLE \"%w\"; CREATE TABLE \"%w\" (\"%w\" %s)", name, name,
				   table->of->columns[0].name, table->of->columns[0].type));
	for (int i = 0; i < table->of->count; i++)
		table->same[i] = values[i];
	store(table, 0);
	return code ? code : prepare(table);
}

/* Stores the columns whose value is another than in all rows before. */
static int widen(struct table *table, const int64_t *values)
{
	int code = SQLITE_OK, before = table->stored;

	for (int i = 0; !code && i < table->of->count; i++) {
		if (table->is_stored[i] || values[i] == table->same[i])
			continue;
		code = alter(table, i);
		store(table, i);
	}
	return code || table->stored == before ? code : prepare(table);
}

static bool is_text(const struct record_column *column)
{
	return column->use >= COLUMN_STORED && !strncmp(column->type, "TEXT", 4);
}

/* The value is the number's bits. */
static bool is_real(const struct record_column *column)
{
	return column->use >= COLUMN_STORED && !strcmp(column->type, "REAL");
}

int table__open(struct table *table, sqlite3 *handle, const struct record_table *of)
{
	bool whole = false;

	*table = (struct table){.handle = handle, .of = of};
	/* A text has no value that could be compared. */
	for (int i = 0; i < of->count; i++)
		whole |= is_text(&of->columns[i]);
	for (int i = 0; whole && i < of->count; i++)
		store(table, i);
	return whole ? prepare(table) : SQLITE_OK;
}

static void bind_real(sqlite3_stmt *statement, int parameter, int64_t bits)
{
	double real;

	memcpy(&real, &bits, sizeof(real));
	sqlite3_bind_double(statement, parameter, real);
}

static void bind(struct table *table, int parameter, int64_t value)
{
	if (value == DB_NULL)
		sqlite3_bind_null(table->insert, parameter);
	else if (is_text(&table->of->columns[table->order[parameter - 1]]))
		sqlite3_bind_text(table->insert, parameter, (const char *)(intptr_t)value, -1,
				  SQLITE_TRANSIENT);
	else if (is_real(&table->of->columns[table->order[parameter - 1]]))
		bind_real(table->insert, parameter, value);
	else
		sqlite3_bind_int64(table->insert, parameter, value);
}

int table__insert(struct table *table, const int64_t *values)
{
	int code = table->stored ? widen(table, values) : begin(table, values);

	if (code)
		return code;
	for (int i = 0; i < table->stored; i++)
		bind(table, i + 1, values[table->order[i]]);
	code = sqlite3_step(table->insert);
	sqlite3_reset(table->insert);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int table__finish(struct table *table)
{
	int code = SQLITE_OK;

	sqlite3_finalize(table->insert);
	table->insert = NULL;
	for (int i = 0; table->stored && !code && i < table->of->count; i++)
		if (!table->is_stored[i])
			code = alter(table, i);
	return code;
}

void table__close(struct table *table)
{
	sqlite3_finalize(table->insert);
	memset(table, 0, sizeof(*table));
}
