// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/columns/thrift_compact.h"

#include <string.h>

void thrift__begin(struct thrift *thrift)
{
	thrift->last[thrift->depth++] = 0;
}

void thrift__end(struct thrift *thrift)
{
	byte_buffer__put_number(thrift->out, 0, 1);
	thrift->depth--;
}

static uint64_t zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

/* No id is 16 or more larger than the one before. */
static void put_field(struct thrift *thrift, int id, enum thrift_type type)
{
	int *last = &thrift->last[thrift->depth - 1];

	byte_buffer__put_number(thrift->out, (unsigned)(id - *last) << 4 | type, 1);
	*last = id;
}

void thrift__struct(struct thrift *thrift, int id)
{
	put_field(thrift, id, THRIFT_STRUCT);
	thrift__begin(thrift);
}

void thrift__number(struct thrift *thrift, int id, enum thrift_type type, int64_t number)
{
	put_field(thrift, id, type);
	thrift__number_element(thrift, number);
}

void thrift__bytes(struct thrift *thrift, int id, const void *data, size_t size)
{
	put_field(thrift, id, THRIFT_BINARY);
	byte_buffer__put_varint(thrift->out, size);
	byte_buffer__put(thrift->out, data, size);
}

void thrift__text(struct thrift *thrift, int id, const char *text)
{
	thrift__bytes(thrift, id, text, strlen(text));
}

void thrift__list(struct thrift *thrift, int id, enum thrift_type type, uint32_t count)
{
	put_field(thrift, id, THRIFT_LIST);
	byte_buffer__put_number(thrift->out, (count < 15 ? count : 15) << 4 | type, 1);
	if (count >= 15)
		byte_buffer__put_varint(thrift->out, count);
}

void thrift__number_element(struct thrift *thrift, int64_t number)
{
	byte_buffer__put_varint(thrift->out, zigzag(number));
}

void thrift__text_element(struct thrift *thrift, const char *text)
{
	byte_buffer__put_varint(thrift->out, strlen(text));
	byte_buffer__put(thrift->out, text, strlen(text));
}
