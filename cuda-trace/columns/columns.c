// SPDX-License-Identifier: BSD-2-Clause
/*
 * The names of tables and columns are the file's, which is untrusted: a table whose name is no
 * plain word gets no file. Views are left out, as reports leave them out.
 */
#include "cuda-trace/columns/columns.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/columns/named_tables.h"
#include "cuda-trace/columns/table_export.h"

#define LONGEST_NAME 100

struct folder_export {
	const struct report_file *file;
	sqlite3 *list; /* another handle of it, for the list of tables */
	struct parquet_folder *folder;
};

static bool is_word(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return length && length <= LONGEST_NAME;
}

static int skip(const char *name, const char *why)
{
	char shown[512];

	fprintf(stderr, "cuda-trace report: table %s is not exported: %s\n",
		text__show(shown, sizeof(shown), name, 80), why);
	return 0;
}

static int describe(const struct report_file *file, const char *name, struct table_column *columns,
		    char **expressions, uint32_t *count)
{
	sqlite3_stmt *statement;
	int code;

	*count = 0;
	if (sqlite3_prepare_v2(file->db, "SELECT name, type FROM pragma_table_info(?1, 'main')", -1,
			       &statement, NULL))
		return report_file__complain(file);
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && *count <= TABLE_COLUMNS) {
		const char *column = (const char *)sqlite3_column_text(statement, 0);
		const char *type = (const char *)sqlite3_column_text(statement, 1);
		uint32_t i = (*count)++;

		if (i == TABLE_COLUMNS)
			break;
		text__show(columns[i].name, sizeof(columns[i].name), column ? column : "", 0);
		snprintf(columns[i].type, sizeof(columns[i].type), "%s", type ? type : "");
		expressions[i] = sqlite3_mprintf("t.\"%w\"", column ? column : "");
		columns[i].expression = expressions[i];
		if (!expressions[i]) {
			sqlite3_finalize(statement);
			return -ENOMEM;
		}
	}
	sqlite3_finalize(statement);
	return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : report_file__complain(file);
}

static int export_table(const struct folder_export *to, const char *name)
{
	struct table_column *columns = calloc(TABLE_COLUMNS, sizeof(*columns));
	char *expressions[TABLE_COLUMNS] = {0}, from[LONGEST_NAME + 32];
	struct table_export table = {to->file, name, from, columns, 0};
	int err = columns ? 0 : -ENOMEM;

	snprintf(from, sizeof(from), "FROM main.\"%s\" AS t", name);
	if (!err)
		err = describe(to->file, name, columns, expressions, &table.count);
	if (!err && table.count > TABLE_COLUMNS)
		err = skip(name, "it has more than 127 columns");
	else if (!err && !table.count)
		err = skip(name, "it has no columns");
	else if (!err)
		err = table_export__write(&table, to->folder);
	for (int i = 0; i < TABLE_COLUMNS; i++)
		sqlite3_free(expressions[i]);
	free(columns);
	return err;
}

static int export_one(const struct folder_export *to, const char *name, bool is_virtual)
{
	if (!strncmp(name, "sqlite_", 7))
		return 0;
	if (!is_word(name))
		return skip(name, "its name is no word");
	if (is_virtual)
		return skip(name, "it is virtual");
	if (named_tables__has(name))
		return skip(name, "its name is that of a file with names");
	return export_table(to, name);
}

static int export_tables(const struct folder_export *to)
{
	sqlite3_stmt *statement;
	int code, err = 0;

	if (sqlite3_prepare_v2(to->list,
			       "SELECT name, coalesce(rootpage, 0) = 0 FROM main.sqlite_master "
			       "WHERE type = 'table' ORDER BY name",
			       -1, &statement, NULL))
		return report_file__complain(to->file);
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);

		if (name)
			err = export_one(to, name, sqlite3_column_int(statement, 1));
	}
	sqlite3_finalize(statement);
	return err || code == SQLITE_DONE ? err : report_file__complain(to->file);
}

int columns__export(const struct report_file *file, const char *path)
{
	struct report_file lent;
	struct folder_export to = {.file = &lent, .list = file->db};
	int err = report_file__lend(file, &lent);

	if (err)
		return err;
	/* Who reads a table once from end to end gains nothing by a cache. */
	sqlite3_exec(lent.db, "PRAGMA cache_size=-1024", NULL, NULL, NULL);
	lent.progress = file->progress;
	err = parquet_folder__open(&to.folder, path);
	if (!err) {
		err = export_tables(&to);
		if (!err)
			err = named_tables__export(&lent, to.folder);
		err = parquet_folder__finish(to.folder, err);
	}
	report_file__return(file, &lent);
	return err;
}
