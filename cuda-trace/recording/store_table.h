/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table of a recording while it is filled. A column whose value has been the same in all rows
 * is not stored in any of them: it is a default in the table's definition, added when the value
 * first changes, or at the end. Rows so take half of the space. Used by store_db.c; one thread.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_TABLE_H
#define CUDA_TRACE_RECORDING_STORE_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/recording/record_columns.h"

struct table {
	sqlite3 *handle;
	const struct record_table *of;
	int64_t same[RECORD_COLUMNS_MAX]; /* what a column was in all rows so far */
	bool is_stored[RECORD_COLUMNS_MAX];
	uint8_t order[RECORD_COLUMNS_MAX]; /* of the stored ones, in the statement */
	int stored;
	sqlite3_stmt *insert;
};

/* The table exists, empty. 0 or an SQLite code, as all below. A table with a column of texts stores
 * all columns. */
int table__open(struct table *table, sqlite3 *handle, const struct record_table *of);
/* One row; DB_NULL is NULL. */
int table__insert(struct table *table, const int64_t *values);
/* Adds the columns that are not there yet. */
int table__finish(struct table *table);
void table__close(struct table *table);

#endif
