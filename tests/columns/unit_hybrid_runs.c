// SPDX-License-Identifier: BSD-2-Clause
/*
 * Numbers in Parquet's hybrid of runs and packed bits, read back by a decoder written from the
 * format's description: of every width, in runs of every length, and at random. And columns: what
 * they count, and that their dictionary ends.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/columns/hybrid_runs.h"
#include "cuda-trace/columns/parquet_column.h"
#include "cuda-trace/columns/thrift_compact.h"

#define COUNT 5000

static uint64_t varint(const uint8_t **at)
{
	uint64_t number = 0;
	int shift = 0;

	do
		number |= (uint64_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return number;
}

static uint32_t decode(const struct byte_buffer *in, uint16_t *out, uint32_t count, int width)
{
	const uint8_t *at = in->data, *end = in->data + in->size;
	uint32_t have = 0;

	while (at < end) {
		uint64_t head = varint(&at);

		if (head & 1) {
			uint32_t bits = (uint32_t)(head >> 1) * 8 * width;

			for (uint32_t bit = 0; bit < bits; bit += width) {
				uint32_t number = 0;

				for (int i = 0; i < width; i++)
					number |= (at[(bit + i) / 8] >> (bit + i) % 8 & 1u) << i;
				if (have < count)
					out[have++] = number;
				else
					assert(!number);
			}
			at += bits / 8;
		} else {
			uint32_t number = at[0] | (width > 8 ? at[1] << 8 : 0);

			at += (width + 7) / 8;
			for (uint64_t i = 0; i < head >> 1; i++) {
				assert(have < count);
				out[have++] = number;
			}
		}
	}
	assert(at == end);
	return have;
}

static void check(const uint16_t *numbers, uint32_t count, int width)
{
	struct byte_buffer out = {0};
	uint16_t back[COUNT];

	hybrid_runs__put(&out, numbers, count, width);
	assert(!out.failed);
	assert(decode(&out, back, count, width) == count);
	assert(!memcmp(numbers, back, count * sizeof(*back)));
	byte_buffer__free(&out);
}

static void check_runs(void)
{
	uint16_t numbers[COUNT];

	for (int width = 1; width <= 16; width++)
		for (int longest = 1; longest < 70; longest += 3) {
			uint32_t count = COUNT - (uint32_t)rand() % 40;

			for (uint32_t i = 0; i < count;) {
				uint32_t run = 1 + (uint32_t)rand() % longest;
				uint16_t number = (uint16_t)(rand() & ((1 << width) - 1));

				while (run-- && i < count)
					numbers[i++] = number;
			}
			check(numbers, count, width);
			check(numbers, 1 + (uint32_t)rand() % 20, width);
		}
}

static void check_zero(void)
{
	struct byte_buffer out = {0};
	uint16_t back[COUNT] = {1};

	hybrid_runs__put(&out, NULL, COUNT, 1);
	assert(decode(&out, back, COUNT, 1) == COUNT && !back[0] && !back[COUNT - 1]);
	byte_buffer__free(&out);
}

static void check_column(void)
{
	size_t stored = 0;
	struct parquet_column column = {.type = PARQUET_INT64, .stored = &stored};
	struct byte_buffer page = {0};

	for (int64_t i = 0; i < 100000; i++) {
		parquet_column__number(&column, i % 1000);
		if (i % 10 == 0)
			parquet_column__null(&column);
	}
	assert(parquet_column__rows(&column) == 110000 &&
	       parquet_column__count(&column) == 100000 && column.entries == 1000);
	assert(!column.sealed_rows && !column.plain && column.least == 0 && column.most == 999);
	parquet_column__clear(&column);
	/* Nothing repeats: the dictionary is given up, and has what came before. */
	for (int64_t i = 0; i < 100000; i++)
		parquet_column__number(&column, -i);
	assert(column.plain && column.entries == column.sealed_rows && column.entries < 10000);
	parquet_column__data(&column, &page);
	assert(!column.failed && column.page_rows == 100000 - column.sealed_rows);
	assert(page.size > 8 * column.page_rows && column.least == -99999);
	byte_buffer__free(&page);
	parquet_column__free(&column);
}

/* The protocol's own examples: zigzag of -1 is 1, of 1 is 2; a field's id is a difference. */
static void check_thrift(void)
{
	static const uint8_t expected[] = {0x15, 0x01, 0x36, 0x80, 0x01, 0x19, 0x25,
					   0x02, 0x04, 0x18, 0x02, 'h',	 'i',  0x00};
	struct byte_buffer out = {0};
	struct thrift thrift = {.out = &out};

	thrift__begin(&thrift);
	thrift__number(&thrift, 1, THRIFT_I32, -1);
	thrift__number(&thrift, 4, THRIFT_I64, 64);
	thrift__list(&thrift, 5, THRIFT_I32, 2);
	thrift__number_element(&thrift, 1);
	thrift__number_element(&thrift, 2);
	thrift__text(&thrift, 6, "hi");
	thrift__end(&thrift);
	assert(out.size == sizeof(expected) && !memcmp(out.data, expected, sizeof(expected)));
	byte_buffer__free(&out);
}

int main(void)
{
	srand(1);
	check_runs();
	check_zero();
	check_column();
	check_thrift();
	puts("fine");
	return 0;
}
