// SPDX-License-Identifier: BSD-2-Clause
/*
 * A row group has one page for each column, after a page for its dictionary if it has one. What the
 * footer says of a group is encoded when the group is written.
 */
#include "cuda-trace/columns/parquet_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/columns/thrift_compact.h"

#define MAGIC	  "PAR1"
#define MAX_BYTES (8u << 20) /* of texts in a row group, beyond which it ends */
#define LEVEL	  1
#define MAX_PAGE  INT32_MAX

/* Numbers of the format. */
enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6 };
enum { OPTIONAL = 1, CONVERTED_UTF8 = 0 };

struct parquet_writer {
	FILE *out;
	ZSTD_CCtx *zstd;
	struct parquet_column *columns;
	uint32_t count, capacity;
	uint64_t at; /* bytes written */
	int64_t rows;
	uint32_t group_rows, group_count;
	size_t stored; /* bytes of texts in the group */
	struct byte_buffer groups, page, packed, header;
};

/* What the footer says of a column in a group. */
struct chunk {
	uint64_t start, dictionary, data; /* dictionary 0 = none */
	uint64_t raw, stored;		  /* bytes with headers, before and after compression */
};

struct parquet_writer *parquet_writer__new(FILE *out)
{
	struct parquet_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->out = out;
	writer->zstd = ZSTD_createCCtx();
	if (!writer->zstd) {
		free(writer);
		return NULL;
	}
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
	writer->at = fwrite(MAGIC, 1, 4, out);
	return writer;
}

void parquet_writer__free(struct parquet_writer *writer)
{
	if (!writer)
		return;
	for (uint32_t i = 0; i < writer->count; i++)
		parquet_column__free(&writer->columns[i]);
	free(writer->columns);
	byte_buffer__free(&writer->groups);
	byte_buffer__free(&writer->page);
	byte_buffer__free(&writer->packed);
	byte_buffer__free(&writer->header);
	ZSTD_freeCCtx(writer->zstd);
	free(writer);
}

bool parquet_writer__add(struct parquet_writer *writer, const char *name, enum parquet_type type,
			 parquet_names names, void *context)
{
	char *copy = strdup(name);

	if (!copy || !array_grow__for_one(writer->columns, writer->capacity, writer->count)) {
		free(copy);
		return false;
	}
	writer->columns[writer->count++] = (struct parquet_column){.name = copy,
								   .type = type,
								   .names = names,
								   .context = context,
								   .stored = &writer->stored};
	return true;
}

struct parquet_column *parquet_writer__column(struct parquet_writer *writer, uint32_t column)
{
	return &writer->columns[column];
}

static void write_out(struct parquet_writer *writer, const struct byte_buffer *buffer)
{
	writer->at += fwrite(buffer->data, 1, buffer->size, writer->out);
}

static int physical_type(const struct parquet_column *column)
{
	return column->type == PARQUET_INT64	? TYPE_INT64
	       : column->type == PARQUET_DOUBLE ? TYPE_DOUBLE
						: TYPE_BYTE_ARRAY;
}

enum page { DICTIONARY, INDEXES, PLAIN };

static void put_page_header(struct parquet_writer *writer, enum page page, uint32_t values)
{
	struct thrift thrift = {.out = &writer->header};

	writer->header.size = 0;
	thrift__begin(&thrift);
	thrift__number(&thrift, 1, THRIFT_I32, page == DICTIONARY ? PAGE_DICTIONARY : PAGE_DATA);
	thrift__number(&thrift, 2, THRIFT_I32, (int64_t)writer->page.size);
	thrift__number(&thrift, 3, THRIFT_I32, (int64_t)writer->packed.size);
	thrift__struct(&thrift, page == DICTIONARY ? 7 : 5);
	thrift__number(&thrift, 1, THRIFT_I32, values);
	thrift__number(&thrift, 2, THRIFT_I32,
		       page == INDEXES ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN);
	if (page != DICTIONARY) {
		thrift__number(&thrift, 3, THRIFT_I32, ENCODING_RLE);
		thrift__number(&thrift, 4, THRIFT_I32, ENCODING_RLE);
	}
	thrift__end(&thrift);
	thrift__end(&thrift);
}

/* What is in `page`. */
static int write_page(struct parquet_writer *writer, enum page page, uint32_t values,
		      struct chunk *chunk)
{
	size_t bound = ZSTD_compressBound(writer->page.size), size;
	uint8_t *packed;

	writer->packed.size = 0;
	packed = byte_buffer__reserve(&writer->packed, bound);
	if (writer->page.failed || !packed)
		return -ENOMEM;
	if (bound > MAX_PAGE)
		return -E2BIG;
	size = ZSTD_compress2(writer->zstd, packed, bound, writer->page.data, writer->page.size);
	if (ZSTD_isError(size))
		return -ENOMEM;
	writer->packed.size = size;
	put_page_header(writer, page, values);
	if (writer->header.failed)
		return -ENOMEM;
	chunk->raw += writer->header.size + writer->page.size;
	chunk->stored += writer->header.size + writer->packed.size;
	write_out(writer, &writer->header);
	write_out(writer, &writer->packed);
	writer->page.size = 0;
	return 0;
}

static int write_chunk(struct parquet_writer *writer, struct parquet_column *column,
		       struct chunk *chunk)
{
	bool indexed = column->entries && !column->plain;
	int err = 0;

	*chunk = (struct chunk){.start = writer->at};
	if (column->entries) {
		chunk->dictionary = writer->at;
		parquet_column__dictionary(column, &writer->page);
		err = write_page(writer, DICTIONARY, column->entries, chunk);
	}
	chunk->data = writer->at;
	if (!err && column->sealed_rows) {
		byte_buffer__put(&writer->page, column->sealed.data, column->sealed.size);
		err = write_page(writer, INDEXES, column->sealed_rows, chunk);
	}
	if (err)
		return err;
	parquet_column__data(column, &writer->page);
	if (column->failed)
		return -ENOMEM;
	return write_page(writer, indexed ? INDEXES : PLAIN, column->page_rows, chunk);
}

static void put_statistics(struct thrift *thrift, const struct parquet_column *column)
{
	uint8_t bytes[8];

	thrift__struct(thrift, 12);
	thrift__number(thrift, 3, THRIFT_I64,
		       parquet_column__rows(column) - parquet_column__count(column));
	if (column->type == PARQUET_INT64 && parquet_column__count(column)) {
		for (int i = 0; i < 8; i++)
			bytes[i] = (uint8_t)((uint64_t)column->most >> 8 * i);
		thrift__bytes(thrift, 5, bytes, sizeof(bytes));
		for (int i = 0; i < 8; i++)
			bytes[i] = (uint8_t)((uint64_t)column->least >> 8 * i);
		thrift__bytes(thrift, 6, bytes, sizeof(bytes));
	}
	thrift__end(thrift);
}

static void put_chunk(struct thrift *thrift, const struct parquet_column *column,
		      const struct chunk *chunk)
{
	thrift__begin(thrift);
	thrift__number(thrift, 2, THRIFT_I64, (int64_t)chunk->start);
	thrift__struct(thrift, 3);
	thrift__number(thrift, 1, THRIFT_I32, physical_type(column));
	thrift__list(thrift, 2, THRIFT_I32, chunk->dictionary ? 3 : 2);
	thrift__number_element(thrift, ENCODING_PLAIN);
	thrift__number_element(thrift, ENCODING_RLE);
	if (chunk->dictionary)
		thrift__number_element(thrift, ENCODING_RLE_DICTIONARY);
	thrift__list(thrift, 3, THRIFT_BINARY, 1);
	thrift__text_element(thrift, column->name);
	thrift__number(thrift, 4, THRIFT_I32, CODEC_ZSTD);
	thrift__number(thrift, 5, THRIFT_I64, parquet_column__rows(column));
	thrift__number(thrift, 6, THRIFT_I64, (int64_t)chunk->raw);
	thrift__number(thrift, 7, THRIFT_I64, (int64_t)chunk->stored);
	thrift__number(thrift, 9, THRIFT_I64, (int64_t)chunk->data);
	if (chunk->dictionary)
		thrift__number(thrift, 11, THRIFT_I64, (int64_t)chunk->dictionary);
	put_statistics(thrift, column);
	thrift__end(thrift);
	thrift__end(thrift);
}

static int write_group(struct parquet_writer *writer)
{
	struct thrift thrift = {.out = &writer->groups};
	uint64_t start = writer->at, raw = 0;
	int err = 0;

	thrift__begin(&thrift);
	thrift__list(&thrift, 1, THRIFT_STRUCT, writer->count);
	for (uint32_t i = 0; i < writer->count && !err; i++) {
		struct parquet_column *column = &writer->columns[i];
		struct chunk chunk;

		err = write_chunk(writer, column, &chunk);
		raw += chunk.raw;
		put_chunk(&thrift, column, &chunk);
		parquet_column__clear(column);
	}
	thrift__number(&thrift, 2, THRIFT_I64, (int64_t)raw);
	thrift__number(&thrift, 3, THRIFT_I64, writer->group_rows);
	thrift__number(&thrift, 5, THRIFT_I64, (int64_t)start);
	thrift__number(&thrift, 6, THRIFT_I64, (int64_t)(writer->at - start));
	thrift__end(&thrift);
	writer->rows += writer->group_rows;
	writer->group_rows = 0;
	writer->stored = 0;
	writer->group_count++;
	if (!err && ferror(writer->out))
		err = -EIO;
	return err;
}

int parquet_writer__end_row(struct parquet_writer *writer)
{
	writer->group_rows++;
	if (writer->group_rows < PARQUET_ROWS && writer->stored <= MAX_BYTES)
		return 0;
	return write_group(writer);
}

static void put_schema(struct thrift *thrift, const struct parquet_writer *writer)
{
	thrift__list(thrift, 2, THRIFT_STRUCT, writer->count + 1);
	thrift__begin(thrift);
	thrift__text(thrift, 4, "schema");
	thrift__number(thrift, 5, THRIFT_I32, writer->count);
	thrift__end(thrift);
	for (uint32_t i = 0; i < writer->count; i++) {
		const struct parquet_column *column = &writer->columns[i];

		thrift__begin(thrift);
		thrift__number(thrift, 1, THRIFT_I32, physical_type(column));
		thrift__number(thrift, 3, THRIFT_I32, OPTIONAL);
		thrift__text(thrift, 4, column->name);
		if (column->type == PARQUET_TEXT) {
			thrift__number(thrift, 6, THRIFT_I32, CONVERTED_UTF8);
			thrift__struct(thrift, 10);
			thrift__struct(thrift, 1);
			thrift__end(thrift);
			thrift__end(thrift);
		}
		thrift__end(thrift);
	}
}

/* Without it readers ignore the statistics: each column is ordered as its type is. */
static void put_orders(struct thrift *thrift, uint32_t count)
{
	thrift__list(thrift, 7, THRIFT_STRUCT, count);
	for (uint32_t i = 0; i < count; i++) {
		thrift__begin(thrift);
		thrift__struct(thrift, 1);
		thrift__end(thrift);
		thrift__end(thrift);
	}
}

static void put_footer(struct parquet_writer *writer, struct byte_buffer *footer)
{
	struct thrift thrift = {.out = footer};

	thrift__begin(&thrift);
	thrift__number(&thrift, 1, THRIFT_I32, 2);
	put_schema(&thrift, writer);
	thrift__number(&thrift, 3, THRIFT_I64, writer->rows);
	thrift__list(&thrift, 4, THRIFT_STRUCT, writer->group_count);
	byte_buffer__put(footer, writer->groups.data, writer->groups.size);
	thrift__text(&thrift, 6, PARQUET_CREATOR VERSION);
	put_orders(&thrift, writer->count);
	thrift__end(&thrift);
}

int parquet_writer__finish(struct parquet_writer *writer)
{
	int err = writer->group_rows ? write_group(writer) : 0;
	struct byte_buffer footer = {0};
	size_t size;

	if (err)
		return err;
	put_footer(writer, &footer);
	size = footer.size;
	byte_buffer__put_number(&footer, size, 4);
	byte_buffer__put(&footer, MAGIC, 4);
	if (footer.failed || writer->groups.failed)
		err = -ENOMEM;
	else if (size > MAX_PAGE)
		err = -E2BIG;
	else
		write_out(writer, &footer);
	byte_buffer__free(&footer);
	return err ? err : ferror(writer->out) ? -EIO : 0;
}
