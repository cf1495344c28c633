/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a recording as records again. Inside of report_record*.c.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_RECORD_ROWS_H
#define CUDA_TRACE_REPORT_REPORT_RECORD_ROWS_H

#include <stddef.h>
#include "cuda-trace/recording/record_columns.h"
#include "cuda-trace/report/report_file.h"
#include "cuda-trace/report/report_index.h"
#include "cuda-trace/report/report_reader.h"
#include "cuda-trace/report/report_record_ranges.h"
#include "cuda-trace/report/report_records.h"
#include "cuda-trace/capture/session.h"

struct replay {
	const struct report_file *file;
	const struct sink *sink;
	struct process **processes; /* in order of appearance */
	uint8_t **known;	    /* of each: bit per string that its names have */
	size_t count;
	struct key_index index;		/* of them, by globalPid without a tid */
	struct key_index rows, samples; /* what the file says of each */
	size_t recent;			/* the one that the last row was of */
	int64_t recent_key;
	char **strings; /* StringIds by id */
	size_t string_count;
	struct cuda_launch *shapes; /* by id - 1; of launches whose kernels have no record */
	size_t shape_count;
	bool ranged; /* there are NVTX ranges, and what they belong with comes in order */
	struct replay_ranges ranges;
};

/* A row being played. */
struct replay_row {
	const int64_t *values; /* of the statement: process or thread, time, others */
	size_t process;
	union record_row row; /* of a table of records, as the next one */
	union any_record record;
};

/* A table being played. */
struct replay_source {
	const char *table;     /* NULL = that of `columns` */
	const char *source;    /* what to select from, NULL = the table; else the statement */
	enum db_table columns; /* DB_TABLE_COUNT: no table of records */
	uint16_t kind;	       /* of the records */
	void (*play)(struct replay *replay, struct replay_row *row);
	struct record_selection selection;
	struct reader *reader;
	const int64_t *row; /* the next one, NULL at the end */
};

#define REPLAY_SOURCES 48 /* at most */

/* All of them. Those of one table stand together: the first whose statement fits the file is taken.
 */
size_t report_record_rows__sources(struct replay_source *sources);

const char *report_record_rows__table(const struct replay_source *source);
/* 0, -ENOENT if its columns are not in the file, other -errno. */
int report_record_rows__open(const struct replay *replay, struct replay_source *source);
/* The source's next row. */
void report_record_rows__play(struct replay *replay, const struct replay_source *source,
			      size_t process);

#endif
