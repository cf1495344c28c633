/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of one SELECT as a Parquet file. SQLite has types of values, Parquet of columns: a
 * column has the type that its table says, and another one if a value does not fit.
 */
#ifndef CUDA_TRACE_COLUMNS_TABLE_EXPORT_H
#define CUDA_TRACE_COLUMNS_TABLE_EXPORT_H

#include "cuda-trace/columns/parquet_folder.h"
#include "cuda-trace/report/report_file.h"

#define TABLE_COLUMNS 127 /* more arguments no function of SQLite has */

struct table_column {
	char name[128];
	const char *expression; /* SQL */
	char type[32];		/* as the table says */
	const char *names;	/* SELECT of the text for ?1; NULL = none */
	/* kept by table_export.c */
	int kind;
	unsigned seen;
	sqlite3_stmt *lookup;
	char *shown;
};

struct table_export {
	const struct report_file *file;
	const char *name; /* of the file */
	const char *from; /* SQL: FROM ... */
	struct table_column *columns;
	uint32_t count;
};

/* 0, or -errno after a message. */
int table_export__write(struct table_export *table, struct parquet_folder *folder);

#endif
