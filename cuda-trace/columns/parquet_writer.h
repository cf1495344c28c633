/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes one Parquet file: row groups of bounded size, pages compressed with Zstandard. The format
 * is https://parquet.apache.org/docs/file-format. One thread.
 */
#ifndef CUDA_TRACE_COLUMNS_PARQUET_WRITER_H
#define CUDA_TRACE_COLUMNS_PARQUET_WRITER_H

#include <stdio.h>
#include "cuda-trace/columns/parquet_column.h"

/* What a file of ours ends with, among other things. */
#define PARQUET_CREATOR "cuda-trace version "

struct parquet_writer;

/* NULL: no memory. The caller owns `out`. */
struct parquet_writer *parquet_writer__new(FILE *out);
void parquet_writer__free(struct parquet_writer *writer);
/* All columns come before the first row. False: no memory. */
bool parquet_writer__add(struct parquet_writer *writer, const char *name, enum parquet_type type,
			 parquet_names names, void *context);
struct parquet_column *parquet_writer__column(struct parquet_writer *writer, uint32_t column);
/* Each column has got a value or NULL. 0 or -errno. */
int parquet_writer__end_row(struct parquet_writer *writer);
/* The rest, and what readers begin with. 0 or -errno. */
int parquet_writer__finish(struct parquet_writer *writer);

#endif
