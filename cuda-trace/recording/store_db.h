/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as an SQLite file, while it is being filled: tables, interned strings, inserts.
 * Used by the import only; reports read finished files by SQL.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_DB_H
#define CUDA_TRACE_RECORDING_STORE_DB_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/recording/record_columns.h"

#define DB_SCHEMA_MAJOR 3
#define DB_SCHEMA_MINOR 25
#define DB_SCHEMA_MICRO 0

struct db;

/* Makes the file and its tables; the file must not exist. Errors are printed. */
int db__create(struct db **db, const char *path);
/* One row: a value for each column of record_columns.h. */
int db__insert(struct db *db, enum db_table table, const int64_t *values);
/* The StringIds id of a text (untrusted: it is cleaned first); -errno. */
int64_t db__string(struct db *db, const char *text, size_t length);
/* Anything rare: SQL with ? bound to `count` values of the format 'i' (int64_t), 't' (const char *,
 * cleaned, NULL allowed). DB_NULL binds NULL. */
int db__run(struct db *db, const char *sql, const char *format, ...);
sqlite3 *db__handle(struct db *db);
/* Adds the columns that no row needed, commits, syncs. */
int db__finish(struct db *db);
/* Forgets an unfinished file's contents; the file stays. */
void db__close(struct db *db);

#endif
