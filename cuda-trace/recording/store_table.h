/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table of a recording while it is filled. A column whose value has been the same in all rows
 * is not stored in any of them: it is a default in the table's definition, added when the value
 * first changes, or at the end. Rows so take half of the room. Used by store_db.c; one thread.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_TABLE_H
#define CUDA_TRACE_RECORDING_STORE_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define TABLE_COLUMNS 48

struct table_column {
	char *name, *declaration; /* "gridX", "gridX INTEGER NOT NULL" */
	bool required;		  /* NOT NULL */
	bool declared; /* the schema has a default of its own: for what is never filled */
	int value;     /* index in the values of an insert, -1 = never filled */
	int64_t same;  /* what it was in all rows so far */
	bool stored;
};

struct table {
	sqlite3 *handle;
	const char *name;
	struct table_column columns[TABLE_COLUMNS];
	int count;
	int order[TABLE_COLUMNS]; /* the stored ones' values, in the order of the statement */
	int stored;
	sqlite3_stmt *insert;
};

/* `names`: "start,end,..." of the values that inserts will give, in their order. The table exists,
 * empty. 0 or an SQLite code, as all below. */
int table__open(struct table *table, sqlite3 *handle, const char *name, const char *names);
/* One row; DB_NULL is NULL. */
int table__insert(struct table *table, const int64_t *values);
/* Adds the columns that are not there yet. */
int table__finish(struct table *table);
void table__close(struct table *table);

#endif
