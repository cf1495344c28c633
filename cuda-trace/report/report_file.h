/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording opened for reading: ours or Nsight Systems' SQLite export, whole, compressed, or a
 * spool that its recorder left behind. Whatever is in it is untrusted.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_FILE_H
#define CUDA_TRACE_REPORT_REPORT_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REPORT_HANDLES 16 /* of other threads, at once */

struct kept_groups;
struct progress;

/* What kernels are grouped by (report --by). */
enum report_by {
	REPORT_BY_NONE,
	REPORT_BY_OPERATOR,
	REPORT_BY_MODULE,
	REPORT_BY_LINE,
	REPORT_BY_RANGE,
	REPORT_BY_KERNEL,
};

struct report_file {
	sqlite3 *db;		   /* opened read-only; temporary tables may be made */
	const char *path;	   /* as the user gave it */
	const char *command;	   /* that messages begin with: "report" */
	const char *symbols;	   /* folder with files of symbols, NULL = none */
	const char *samples;	   /* samples of profile --device, NULL = none */
	const char *const *advice; /* sentences for the page, up to a NULL; NULL = none */
	bool runtime_names;	   /* the timeline has the runtime's names of launches */
	enum report_by by;	   /* what stands for the host's functions */
	bool marks_estimates;	   /* the caller marks them: no message is needed */
	bool ours;		   /* written by cuda-trace */
	char version[32];	   /* EXPORT_SCHEMA_VERSION, "" if none */
	struct progress *progress;
	struct kept_groups **kept; /* of report_group.c: the first one */
	char *opened; /* what `db` is a handle of; NULL where that has no name any more */
	dev_t device;
	ino_t inode;
	struct report_spares *spares; /* handles for other threads, of a file without a name */
};

/* Errors are printed. A spool without a finished file is imported first, under the file's name. */
int report_file__open(struct report_file *file, const char *path);
/* Does the file, not what was made beside it, have this table and column (NULL = any)? */
bool report_file__has(const struct report_file *file, const char *table, const char *column);
/* 1 if the table is there and has a row, 0 if not, -EIO, printed, if nobody can tell. */
int report_file__any(const struct report_file *file, const char *table);
/* Made with --sample: its GPU records are those of windows. */
bool report_file__is_sample(const struct report_file *file);
/* The first column of the first row; fallback if there is none or the SQL fails. */
int64_t report_file__number(const struct report_file *file, const char *sql, int64_t fallback);
/* Only reading statements from now on: for SQL of the user's. */
void report_file__restrict(struct report_file *file);
/* Says what SQLite said, cleaned; returns -EIO. */
int report_file__complain(const struct report_file *file);
/* The same file for another thread, with a handle of its own. The lender outlives it; both calls
 * are for the lender's thread. */
int report_file__lend(const struct report_file *file, struct report_file *lent);
void report_file__return(const struct report_file *file, struct report_file *lent);
void report_file__close(struct report_file *file);

#endif
