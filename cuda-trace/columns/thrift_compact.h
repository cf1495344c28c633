/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thrift's compact protocol, as far as the metadata of Parquet files needs it: structures with
 * fields in ascending order of their ids, and lists of numbers, texts or structures.
 */
#ifndef CUDA_TRACE_COLUMNS_THRIFT_COMPACT_H
#define CUDA_TRACE_COLUMNS_THRIFT_COMPACT_H

#include "cuda-trace/columns/byte_buffer.h"

#define THRIFT_DEPTH 8

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

struct thrift {
	struct byte_buffer *out;
	int last[THRIFT_DEPTH]; /* id of the last field of each open structure */
	int depth;
};

/* An element of a list, or the outermost structure; thrift__end() ends every structure. */
void thrift__begin(struct thrift *thrift);
void thrift__end(struct thrift *thrift);
void thrift__struct(struct thrift *thrift, int id);
void thrift__number(struct thrift *thrift, int id, enum thrift_type type, int64_t number);
void thrift__bytes(struct thrift *thrift, int id, const void *data, size_t size);
void thrift__text(struct thrift *thrift, int id, const char *text);
/* The elements follow: structures, or those of the next two functions. */
void thrift__list(struct thrift *thrift, int id, enum thrift_type type, uint32_t count);
void thrift__number_element(struct thrift *thrift, int64_t number);
void thrift__text_element(struct thrift *thrift, const char *text);

#endif
