/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes rows as columns of text or as JSON objects, and escapes untrusted text. Commands fill
 * cells.
 */
#ifndef CUDA_TRACE_CLI_WRITER_H
#define CUDA_TRACE_CLI_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum column_flags {
	COLUMN_LEFT = 1,    /* text: flush left */
	COLUMN_WIDE = 2,    /* text: only when wide output was requested */
	COLUMN_JSON = 4,    /* JSON only */
	COLUMN_TEXT = 8,    /* text only */
	COLUMN_IF_SET = 16, /* JSON: left out when there is no value */
	COLUMN_WHOLE = 32,  /* text: rather wider than the column than cut */
};

struct column {
	const char *key;   /* JSON: stable */
	const char *title; /* text */
	int width;	   /* text; 0 = the last column, as wide as it gets */
	int flags;
};

enum cell_kind {
	CELL_NONE,   /* "-" and null */
	CELL_TEXT,   /* untrusted or not */
	CELL_NUMBER, /* plain digits: ids */
	CELL_SIGNED,
	CELL_COUNT,  /* text: with thousands separators */
	CELL_NS,     /* text: 1.234 ms */
	CELL_TRIPLE, /* text: 1x2x3, JSON: [1, 2, 3] */
	CELL_CLOCK,  /* CLOCK_MONOTONIC ns; text: local time of day, JSON: RFC 3339 in UTC */
	CELL_SHARE,  /* a part of 1; text: 12.3% */
	CELL_BOOL,
	CELL_BYTES, /* text: 1.50 MiB */
	CELL_RATE,  /* bytes per second; text: 1.23 GB/s */
	CELL_REAL,  /* text: 1.2; what is not finite is shown as CELL_NONE */
	CELL_JSON,  /* a whole value in JSON, which its maker vouches for */
};

struct cell {
	enum cell_kind kind;
	union {
		const char *text;
		uint64_t number;
		int64_t signed_number;
		const uint32_t *triple;
		double share, real;
		bool yes;
	};
};

#define cell_none	     ((struct cell){.kind = CELL_NONE})
#define cell_if(known, cell) ((known) ? (cell) : cell_none)
#define cell_text(value)     ((struct cell){.kind = CELL_TEXT, .text = (value)})
#define cell_number(value)   ((struct cell){.kind = CELL_NUMBER, .number = (value)})
#define cell_signed(value)   ((struct cell){.kind = CELL_SIGNED, .signed_number = (value)})
#define cell_count(value)    ((struct cell){.kind = CELL_COUNT, .number = (value)})
#define cell_ns(value)	     ((struct cell){.kind = CELL_NS, .number = (value)})
#define cell_triple(value)   ((struct cell){.kind = CELL_TRIPLE, .triple = (value)})
#define cell_clock(value)    ((struct cell){.kind = CELL_CLOCK, .number = (value)})
#define cell_share(value)    ((struct cell){.kind = CELL_SHARE, .share = (value)})
#define cell_bool(value)     ((struct cell){.kind = CELL_BOOL, .yes = (value)})
#define cell_bytes(value)    ((struct cell){.kind = CELL_BYTES, .number = (value)})
#define cell_rate(value)     ((struct cell){.kind = CELL_RATE, .real = (value)})
#define cell_real(value)     ((struct cell){.kind = CELL_REAL, .real = (value)})
#define cell_json(value)     ((struct cell){.kind = CELL_JSON, .text = (value)})

#define WRITER_COLUMNS	     96	 /* at most */
#define WRITER_CELL_SIZE     808 /* of any cell as text */

struct writer {
	FILE *file;
	const struct column *columns;
	int count;
	bool json;
	bool wide;
	int indent;		       /* text: blanks before each line */
	int fit;		       /* text: characters of a line at most; 0 = any number */
	bool left_out[WRITER_COLUMNS]; /* text: which columns are not shown */
	bool headed;
};

/* Text: leaves out columns, in this order, until the others fit into `fit`. */
void writer__fit(struct writer *writer, int fit, const int *order, int count);
/* Before the first row, where rows go to another file than the header. */
void writer__header(struct writer *writer);

/* One row of as many cells as there are columns. The header comes with the first row. */
void writer__row(struct writer *writer, const struct cell *cells);
void writer_text__row(struct writer *writer, const struct cell *cells);
void writer_json__row(struct writer *writer, const struct cell *cells);

/* One cell. The text is that of the column's width, or as wide as `last` (0 = the longest that is
 * shown) if it has none, and may be in `out`. */
void writer_json__cell(FILE *file, const struct cell *cell);
const char *writer_text__format(const struct column *column, const struct cell *cell,
				char out[WRITER_CELL_SIZE], int last);
/* In the column's width, or beyond; how many characters that took. */
int writer_text__put(FILE *file, const struct column *column, const char *text);

/* CLOCK_MONOTONIC ns → CLOCK_REALTIME ns, as the two stood at the tool's start. */
uint64_t writer__wall_clock(uint64_t monotonic);

#endif
