/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording opened for reading: ours or Nsight Systems' SQLite export, whole, compressed, or a
 * spool that its recorder left behind. Whatever is in it is untrusted.
 */
#ifndef CUDA_TRACE_REPORT_FILE_H
#define CUDA_TRACE_REPORT_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct report_file {
	sqlite3 *db;	  /* opened read-only; temporary tables may be made */
	const char *path; /* as the user gave it */
	bool ours;	  /* written by cuda-trace */
	char version[32]; /* EXPORT_SCHEMA_VERSION, "" if none */
};

/* Errors are printed. A spool without a finished file is imported first, under the file's name. */
int report_file__open(struct report_file *file, const char *path);
/* Does the file, not what was made beside it, have this table and column (NULL = any)? */
bool report_file__has(const struct report_file *file, const char *table, const char *column);
/* The first column of the first row; fallback if there is none or the SQL fails. */
int64_t report_file__number(const struct report_file *file, const char *sql, int64_t fallback);
/* Only reading statements from now on: for SQL of the user's. */
void report_file__restrict(struct report_file *file);
/* Says what SQLite said, cleaned; returns -EIO. */
int report_file__complain(const struct report_file *file);
void report_file__close(struct report_file *file);

#endif
