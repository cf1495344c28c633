// SPDX-License-Identifier: BSD-2-Clause
/* SELECT scan_rows(c1, c2, ...) FROM (the statement). */
#include "cuda-trace/report/report_scan.h"
#include <errno.h>
#include "cuda-trace/report/report_progress.h"

#define SHOW_EVERY 4096 /* rows */

struct scan {
	const struct report_file *file;
	scan_row take;
	void *context;
	uint64_t rows;
	int err;
};

static void on_row(sqlite3_context *context, int columns, sqlite3_value **values)
{
	struct scan *scan = sqlite3_user_data(context);

	if (scan->err)
		return;
	if (++scan->rows % SHOW_EVERY == 0)
		progress__rows(scan->file->progress, SHOW_EVERY);
	scan->err = scan->take(scan->context, columns, values);
	if (scan->err)
		sqlite3_result_error(context, "ended", -1);
}

static void on_end(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

/* The columns by number: their own names may be missing, or twice there. */
static char *wrap(sqlite3 *db, const char *sql, int columns)
{
	sqlite3_str *text = sqlite3_str_new(db);

	sqlite3_str_appendall(text, "WITH scanned (");
	for (int i = 0; i < columns; i++)
		sqlite3_str_appendf(text, "%sc%d", i ? "," : "", i);
	sqlite3_str_appendf(text, ") AS (%s) SELECT scan_rows(", sql);
	for (int i = 0; i < columns; i++)
		sqlite3_str_appendf(text, "%sc%d", i ? "," : "", i);
	sqlite3_str_appendall(text, ") FROM scanned");
	return sqlite3_str_finish(text);
}

static int count_columns(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	int columns;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL))
		return -EIO;
	columns = sqlite3_column_count(statement);
	sqlite3_finalize(statement);
	return columns;
}

int scan__run(const struct report_file *file, const char *sql, scan_row take, void *context)
{
	struct scan scan = {.file = file, .take = take, .context = context};
	int columns = count_columns(file->db, sql), code = SQLITE_NOMEM;
	sqlite3_stmt *statement = NULL;
	char *wrapped;

	if (columns < 0)
		return report_file__complain(file);
	wrapped = wrap(file->db, sql, columns);
	if (wrapped)
		code = sqlite3_create_function(file->db, "scan_rows", columns, SQLITE_UTF8, &scan,
					       NULL, on_row, on_end);
	if (!code)
		code = sqlite3_prepare_v2(file->db, wrapped, -1, &statement, NULL);
	if (!code)
		code = sqlite3_step(statement);
	if (!scan.err && code != SQLITE_ROW && code != SQLITE_DONE)
		scan.err = report_file__complain(file);
	sqlite3_finalize(statement);
	/* It must not outlive `scan`. */
	sqlite3_create_function(file->db, "scan_rows", columns, SQLITE_UTF8, NULL, NULL, NULL,
				NULL);
	sqlite3_free(wrapped);
	progress__clear(file->progress);
	return scan.err;
}
