// SPDX-License-Identifier: BSD-2-Clause
/*
 * A column is there if the recording has what it comes from: older ones and Nsight's lack some.
 */
#include "cuda-trace/columns/named_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cuda-trace/columns/table_export.h"

#define MAX_COLUMNS 24

#define STRING	    "SELECT value FROM StringIds WHERE id = ?1"
#define COPY_KIND   "SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = ?1"
#define MEMORY	    "SELECT label FROM ENUM_CUDA_MEM_KIND WHERE id = ?1"
#define PID(id)	    "(" id " >> 24) & 16777215"

struct named_column {
	const char *name, *expression, *names;
};

#define TIMES                                           \
	{"start", "start", NULL}, {"end", "end", NULL}, \
	{                                               \
		"duration", "end - start", NULL         \
	}
#define PLACE                                                                     \
	{"pid", PID("globalPid"), NULL}, {"deviceId", "deviceId", NULL},          \
		{"contextId", "contextId", NULL}, {"streamId", "streamId", NULL}, \
	{                                                                         \
		"correlationId", "correlationId", NULL                            \
	}
#define SAME(column)                   \
	{                              \
#column, #column, NULL \
	}

static const struct named_table {
	const char *name, *table, *from;
	struct named_column columns[MAX_COLUMNS];
} tables[] = {
	{"kernels",
	 "CUPTI_ACTIVITY_KIND_KERNEL",
	 "FROM CUPTI_ACTIVITY_KIND_KERNEL",
	 {{"name", "demangledName", STRING},
	  TIMES,
	  PLACE,
	  SAME(gridX),
	  SAME(gridY),
	  SAME(gridZ),
	  SAME(blockX),
	  SAME(blockY),
	  SAME(blockZ),
	  SAME(registersPerThread),
	  SAME(staticSharedMemory),
	  SAME(dynamicSharedMemory),
	  SAME(localMemoryPerThread),
	  SAME(graphId),
	  SAME(graphNodeId)}},
	{"copies",
	 "CUPTI_ACTIVITY_KIND_MEMCPY",
	 "FROM CUPTI_ACTIVITY_KIND_MEMCPY",
	 {{"kind", "copyKind", COPY_KIND},
	  {"source", "srcKind", MEMORY},
	  {"target", "dstKind", MEMORY},
	  SAME(bytes),
	  TIMES,
	  PLACE}},
	{"calls",
	 "CUPTI_ACTIVITY_KIND_RUNTIME",
	 "FROM CUPTI_ACTIVITY_KIND_RUNTIME",
	 {{"name", "nameId", STRING},
	  TIMES,
	  {"pid", PID("globalTid"), NULL},
	  {"tid", "globalTid & 16777215", NULL},
	  SAME(correlationId),
	  SAME(returnValue),
	  {"kernel", "launchName", STRING}}},
	{"ranges",
	 "NVTX_EVENTS",
	 "FROM NVTX_EVENTS WHERE eventType IN (59, 60)",
	 {{"name", "textId", STRING},
	  {"domain", "nullif(domainId, 0)", STRING},
	  TIMES,
	  {"pid", PID("globalTid"), NULL},
	  {"tid", "globalTid & 16777215", NULL}}},
};

bool named_tables__has(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcasecmp(name, tables[i].name))
			return true;
	return false;
}

static bool is_valid(const struct report_file *file, const char *sql)
{
	sqlite3_stmt *statement;
	bool valid = !sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL);

	sqlite3_finalize(statement);
	return valid;
}

static bool is_there(const struct report_file *file, const struct named_table *table,
		     const struct named_column *column)
{
	char *sql = sqlite3_mprintf("SELECT %s %s", column->expression, table->from);
	bool there =
		sql && is_valid(file, sql) && (!column->names || is_valid(file, column->names));

	sqlite3_free(sql);
	return there;
}

static int export_named(const struct report_file *file, const struct named_table *table,
			struct parquet_folder *folder)
{
	struct table_column *columns = calloc(MAX_COLUMNS, sizeof(*columns));
	struct table_export out = {file, table->name, table->from, columns, 0};
	int err;

	if (!columns)
		return -ENOMEM;
	for (const struct named_column *column = table->columns; column->name; column++) {
		struct table_column *to = &columns[out.count];

		if (!is_there(file, table, column))
			continue;
		snprintf(to->name, sizeof(to->name), "%s", column->name);
		to->expression = column->expression;
		to->names = column->names;
		out.count++;
	}
	err = out.count ? table_export__write(&out, folder) : 0;
	free(columns);
	return err;
}

int named_tables__export(const struct report_file *file, struct parquet_folder *folder)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !err; i++)
		if (report_file__has(file, tables[i].table, NULL))
			err = export_named(file, &tables[i], folder);
	return err;
}
