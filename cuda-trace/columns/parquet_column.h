/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A column of one row group in memory: which rows are NULL, and the values, as numbers into a
 * dictionary as long as they repeat, then as they are. All columns are optional.
 */
#ifndef CUDA_TRACE_COLUMNS_PARQUET_COLUMN_H
#define CUDA_TRACE_COLUMNS_PARQUET_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/columns/byte_buffer.h"

#define PARQUET_ROWS 122880 /* of a row group, at most: as DuckDB's */

enum parquet_type { PARQUET_INT64, PARQUET_DOUBLE, PARQUET_TEXT, PARQUET_BYTES };

/* The text for a number; valid until the next call. False: there is none. */
typedef bool (*parquet_names)(void *context, int64_t number, const void **text, size_t *size);

struct parquet_column {
	char *name;
	enum parquet_type type;
	parquet_names names; /* its numbers stand for texts; NULL = for themselves */
	void *context;
	size_t *stored; /* bytes of texts: of all columns together */
	/* The page that is being filled: runs of rows with and without a value, and the values. */
	uint32_t page_rows, page_count;
	struct byte_buffer levels;
	uint32_t run;
	bool has_value; /* in the run */
	bool plain;	/* values do not repeat: `values` has them */
	struct byte_buffer values;
	uint16_t *indexes; /* otherwise entries of the dictionary; none while all are entry 0 */
	uint32_t index_count, index_capacity;
	/* The page before it, once values no longer repeat. */
	struct byte_buffer sealed;
	uint32_t sealed_rows, sealed_count;
	/* dictionary */
	int64_t *keys;
	uint64_t *ends; /* of its text in `texts` */
	struct byte_buffer texts;
	uint16_t *slots; /* 1 + entry; 0 = free */
	uint32_t entries, entry_capacity, slot_count;
	uint32_t last;	     /* entry of the last value */
	int64_t least, most; /* of PARQUET_INT64 */
	bool failed;	     /* no memory */
};

/* Rows of the group, and how many are not NULL. */
uint32_t parquet_column__rows(const struct parquet_column *column);
uint32_t parquet_column__count(const struct parquet_column *column);
void parquet_column__null(struct parquet_column *column);
/* Of PARQUET_INT64, and of PARQUET_TEXT with names. */
void parquet_column__number(struct parquet_column *column, int64_t number);
void parquet_column__real(struct parquet_column *column, double number);
/* Of PARQUET_TEXT (valid UTF-8) and PARQUET_BYTES. */
void parquet_column__bytes(struct parquet_column *column, const void *data, size_t size);
/* The plain values of the dictionary; entries of them. */
void parquet_column__dictionary(struct parquet_column *column, struct byte_buffer *out);
/* Levels and values of the last page. */
void parquet_column__data(struct parquet_column *column, struct byte_buffer *out);
/* For the next row group. */
void parquet_column__clear(struct parquet_column *column);
void parquet_column__free(struct parquet_column *column);

#endif
