// SPDX-License-Identifier: BSD-2-Clause
/* SQLite finds temporary tables and views before the file's own of the same name. */
#include "cuda-trace/report/report_foreign.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Ids of further strings follow the file's own, in the order of the texts: every handle of the file
 * makes the same ones. The limit keeps a hostile id from an overflow. */
static const char names_sql[] =
	"CREATE TEMP TABLE IF NOT EXISTS nvtx_names (id INTEGER PRIMARY KEY, value TEXT UNIQUE);"
	"CREATE TEMP TABLE IF NOT EXISTS nvtx_domains (domain INTEGER, process INTEGER, id INTEGER,"
	" PRIMARY KEY (domain, process)) WITHOUT ROWID;";

static const char texts_sql[] =
	"INSERT OR IGNORE INTO temp.nvtx_names SELECT (SELECT min(coalesce(max(id), 0), 4194304)"
	" FROM main.StringIds) + row_number() OVER (ORDER BY text), text FROM (SELECT DISTINCT text"
	" FROM main.NVTX_EVENTS WHERE typeof(text) = 'text' AND %s IS NULL)";

#define NAME_ID "coalesce(%s, (SELECT id FROM temp.nvtx_names WHERE value = %s))"

static const char domains_sql[] =
	"INSERT OR IGNORE INTO temp.nvtx_domains SELECT domainId, globalTid >> 24, " NAME_ID
	" AS name FROM main.NVTX_EVENTS WHERE eventType = 75 AND domainId IS NOT NULL"
	" AND globalTid IS NOT NULL AND name IS NOT NULL";

static const char views_sql[] =
	"CREATE TEMP VIEW IF NOT EXISTS StringIds AS SELECT id, value FROM main.StringIds"
	" UNION ALL SELECT id, value FROM temp.nvtx_names;"
	"CREATE TEMP VIEW IF NOT EXISTS NVTX_EVENTS AS SELECT start, end, eventType, globalTid,"
	" %s AS text, " NAME_ID " AS textId, (SELECT id FROM temp.nvtx_domains WHERE domain = %s"
	" AND process = globalTid >> 24) AS domainId%s FROM main.NVTX_EVENTS";

/* Columns that are taken as they are; NULL where an export lacks one. */
static const char *const as_they_are[] = {"category",	"endGlobalTid", "uint64Value",
					  "int64Value", "doubleValue",	"uint32Value",
					  "int32Value", "floatValue",	"jsonText"};

__attribute__((format(printf, 2, 3))) static int run(const struct report_file *file,
						     const char *format, ...)
{
	va_list arguments;
	char *sql;
	int code;

	va_start(arguments, format);
	sql = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	code = sql ? sqlite3_exec(file->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return code ? report_file__complain(file) : 0;
}

int report_foreign__adapt(const struct report_file *file)
{
	/* Older exports lack some of these. */
	const char *text = report_file__has(file, "NVTX_EVENTS", "text") ? "text" : "NULL";
	const char *id = report_file__has(file, "NVTX_EVENTS", "textId") ? "textId" : "NULL";
	char more[512] = "";
	bool domains = report_file__has(file, "NVTX_EVENTS", "domainId");
	int err;

	if (file->ours || report_file__has(file, "CUDA_TRACE_PROCESSES", NULL) ||
	    !report_file__has(file, "NVTX_EVENTS", "globalTid") ||
	    !report_file__has(file, "NVTX_EVENTS", "eventType"))
		return 0;
	for (size_t i = 0; i < sizeof(as_they_are) / sizeof(as_they_are[0]); i++) {
		bool has = report_file__has(file, "NVTX_EVENTS", as_they_are[i]);
		size_t used = strlen(more);

		snprintf(more + used, sizeof(more) - used, ", %s AS %s",
			 has ? as_they_are[i] : "NULL", as_they_are[i]);
	}
	err = run(file, "%s", names_sql);
	if (!err && *text == 't')
		err = run(file, texts_sql, id);
	if (!err && domains)
		err = run(file, domains_sql, id, text);
	if (!err)
		err = run(file, views_sql, text, id, text, domains ? "domainId" : "NULL", more);
	return err;
}

void report_foreign__undo(const struct report_file *file)
{
	sqlite3_exec(file->db,
		     "DROP VIEW IF EXISTS temp.NVTX_EVENTS; DROP VIEW IF EXISTS temp.StringIds",
		     NULL, NULL, NULL);
}
