// SPDX-License-Identifier: BSD-2-Clause
/*
 * Most columns of a recording hold few values, or one and the same. So a value is first compared
 * with the one before it, then found by its hash.
 */
#include "cuda-trace/columns/parquet_column.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/columns/hybrid_runs.h"

#define MAX_ENTRIES 32768 /* so that an index fits 16 bits */
#define MAX_PROBES  32	  /* values that collide on purpose are stored plain */
#define TRIAL	    8192  /* entries before it shows whether values repeat */

static bool is_text(const struct parquet_column *column)
{
	return column->type == PARQUET_TEXT || column->type == PARQUET_BYTES;
}

static void end_run(struct parquet_column *column)
{
	if (!column->run)
		return;
	byte_buffer__put_varint(&column->levels, (uint64_t)column->run << 1);
	byte_buffer__put_number(&column->levels, column->has_value, 1);
	column->run = 0;
}

static void count_row(struct parquet_column *column, bool has_value)
{
	if (has_value != column->has_value)
		end_run(column);
	column->has_value = has_value;
	column->run++;
	column->page_rows++;
	column->page_count += has_value;
}

uint32_t parquet_column__rows(const struct parquet_column *column)
{
	return column->sealed_rows + column->page_rows;
}

uint32_t parquet_column__count(const struct parquet_column *column)
{
	return column->sealed_count + column->page_count;
}

void parquet_column__null(struct parquet_column *column)
{
	count_row(column, false);
}

static void put_plain(struct parquet_column *column, struct byte_buffer *out, int64_t key,
		      const void *data, size_t size)
{
	if (!is_text(column)) {
		byte_buffer__put_number(out, (uint64_t)key, 8);
		return;
	}
	byte_buffer__put_number(out, size, 4);
	byte_buffer__put(out, data, size);
}

static const uint8_t *entry_text(const struct parquet_column *column, uint32_t entry, size_t *size)
{
	uint64_t start = entry ? column->ends[entry - 1] : 0;

	*size = column->ends[entry] - start;
	return column->texts.data + start;
}

static void put_entry(struct parquet_column *column, struct byte_buffer *out, uint32_t entry)
{
	size_t size = 0;
	const uint8_t *text = is_text(column) ? entry_text(column, entry, &size) : NULL;

	put_plain(column, out, column->keys[entry], text, size);
}

static void put_indexes(struct parquet_column *column, struct byte_buffer *out)
{
	int width = 1; /* 0 would do for one entry, but not every reader knows that */

	while (column->entries > 1u << width)
		width++;
	byte_buffer__put_number(out, (uint64_t)width, 1);
	hybrid_runs__put(out, column->index_count ? column->indexes : NULL, column->page_count,
			 width);
}

void parquet_column__data(struct parquet_column *column, struct byte_buffer *out)
{
	end_run(column);
	byte_buffer__put_number(out, column->levels.size, 4);
	byte_buffer__put(out, column->levels.data, column->levels.size);
	if (column->plain || !column->entries)
		byte_buffer__put(out, column->values.data, column->values.size);
	else
		put_indexes(column, out);
	if (column->levels.failed || column->values.failed || column->texts.failed ||
	    column->sealed.failed)
		column->failed = true;
}

/* What follows is plain. */
static void seal(struct parquet_column *column)
{
	parquet_column__data(column, &column->sealed);
	column->sealed_rows = column->page_rows;
	column->sealed_count = column->page_count;
	column->levels.size = 0;
	column->page_rows = column->page_count = column->index_count = 0;
	column->plain = true;
}

static void add_index(struct parquet_column *column, uint32_t entry)
{
	uint32_t count = column->page_count;

	column->last = entry;
	if (!entry && !column->index_count)
		return;
	if (!array_grow__for_one(column->indexes, column->index_capacity, count)) {
		column->failed = true;
		return;
	}
	if (!column->index_count)
		memset(column->indexes, 0, count * sizeof(*column->indexes));
	column->indexes[count] = (uint16_t)entry;
	column->index_count = count + 1;
}

static uint64_t mix(uint64_t hash)
{
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct parquet_column *column, int64_t key, const uint8_t *data,
			size_t size)
{
	uint64_t hash = 14695981039346656037ull;

	if (!is_text(column) || column->names)
		return mix((uint64_t)key);
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 1099511628211ull;
	return mix(hash);
}

static bool is_entry(const struct parquet_column *column, uint32_t entry, int64_t key,
		     const void *data, size_t size)
{
	const uint8_t *text;
	size_t length;

	if (!is_text(column) || column->names)
		return column->keys[entry] == key;
	text = entry_text(column, entry, &length);
	return length == size && (!size || !memcmp(text, data, size));
}

/* False: no memory. */
static bool grow_slots(struct parquet_column *column)
{
	uint32_t count = column->slot_count ? 2 * column->slot_count : 64;
	uint16_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < column->entries; i++) {
		size_t size = 0;
		const uint8_t *text =
			is_text(column) && !column->names ? entry_text(column, i, &size) : NULL;
		uint64_t at = hash_of(column, column->keys[i], text, size);

		while (slots[at % count])
			at++;
		slots[at % count] = (uint16_t)(i + 1);
	}
	free(column->slots);
	column->slots = slots;
	column->slot_count = count;
	return true;
}

/* Its entry, or where one goes; NULL: too many collide. */
static uint16_t *find(const struct parquet_column *column, int64_t key, const void *data,
		      size_t size)
{
	uint64_t at = hash_of(column, key, data, size);

	for (int i = 0; i < MAX_PROBES; i++, at++) {
		uint16_t *slot = &column->slots[at % column->slot_count];

		if (!*slot || is_entry(column, *slot - 1, key, data, size))
			return slot;
	}
	return NULL;
}

static bool add_entry(struct parquet_column *column, int64_t key, const void *data, size_t size)
{
	uint32_t capacity = column->entry_capacity;

	if (!array_grow__for_one(column->keys, column->entry_capacity, column->entries) ||
	    (is_text(column) && !array_grow__for_one(column->ends, capacity, column->entries)))
		return false;
	column->keys[column->entries] = key;
	if (is_text(column)) {
		byte_buffer__put(&column->texts, data, size);
		*column->stored += size;
		column->ends[column->entries] = column->texts.size;
	}
	column->entries++;
	return true;
}

static void add_plain(struct parquet_column *column, int64_t key, const void *data, size_t size)
{
	put_plain(column, &column->values, key, data, size);
	*column->stored += size;
}

/* A value that is not the last one; its row is not counted yet. With names, `data` is the name. */
static void add(struct parquet_column *column, int64_t key, const void *data, size_t size)
{
	uint16_t *slot;

	if (column->failed)
		return;
	if (column->plain) {
		add_plain(column, key, data, size);
		return;
	}
	if (2 * column->entries >= column->slot_count && !grow_slots(column)) {
		column->failed = true;
		return;
	}
	slot = find(column, key, data, size);
	if (slot && *slot) {
		add_index(column, *slot - 1);
	} else if (!slot || column->entries == MAX_ENTRIES ||
		   (column->entries >= TRIAL && 2 * column->entries > column->page_count)) {
		seal(column);
		add_plain(column, key, data, size);
	} else if (!add_entry(column, key, data, size)) {
		column->failed = true;
	} else {
		*slot = (uint16_t)column->entries;
		add_index(column, column->entries - 1);
	}
}

static bool is_last(const struct parquet_column *column, int64_t key, const void *data, size_t size)
{
	return !column->plain && column->entries && is_entry(column, column->last, key, data, size);
}

static void add_value(struct parquet_column *column, int64_t key, const void *data, size_t size)
{
	if (is_last(column, key, data, size))
		add_index(column, column->last);
	else
		add(column, key, data, size);
	count_row(column, true);
}

static void add_name(struct parquet_column *column, int64_t number)
{
	const void *text = NULL;
	size_t size = 0;

	if (!is_last(column, number, NULL, 0) &&
	    !column->names(column->context, number, &text, &size))
		parquet_column__null(column);
	else
		add_value(column, number, text, size);
}

void parquet_column__number(struct parquet_column *column, int64_t number)
{
	if (column->names) {
		add_name(column, number);
		return;
	}
	if (!parquet_column__count(column))
		column->least = column->most = number;
	else if (number < column->least)
		column->least = number;
	else if (number > column->most)
		column->most = number;
	add_value(column, number, NULL, 0);
}

void parquet_column__real(struct parquet_column *column, double number)
{
	int64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	add_value(column, bits, NULL, 0);
}

void parquet_column__bytes(struct parquet_column *column, const void *data, size_t size)
{
	add_value(column, 0, data, size);
}

void parquet_column__dictionary(struct parquet_column *column, struct byte_buffer *out)
{
	for (uint32_t i = 0; i < column->entries; i++)
		put_entry(column, out, i);
}

void parquet_column__clear(struct parquet_column *column)
{
	byte_buffer__free(&column->texts);
	column->levels.size = column->values.size = column->sealed.size = 0;
	column->run = column->page_rows = column->page_count = 0;
	column->sealed_rows = column->sealed_count = 0;
	column->entries = column->index_count = column->last = 0;
	column->plain = false;
	if (column->slots)
		memset(column->slots, 0, column->slot_count * sizeof(*column->slots));
}

void parquet_column__free(struct parquet_column *column)
{
	byte_buffer__free(&column->levels);
	byte_buffer__free(&column->texts);
	byte_buffer__free(&column->values);
	byte_buffer__free(&column->sealed);
	free(column->keys);
	free(column->ends);
	free(column->slots);
	free(column->indexes);
	free(column->name);
}
