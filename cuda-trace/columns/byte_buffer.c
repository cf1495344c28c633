// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/columns/byte_buffer.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

uint8_t *byte_buffer__reserve(struct byte_buffer *buffer, size_t size)
{
	if (array_grow__to(buffer->data, buffer->capacity, buffer->size + size))
		return buffer->data + buffer->size;
	buffer->failed = true;
	return NULL;
}

void byte_buffer__put(struct byte_buffer *buffer, const void *data, size_t size)
{
	uint8_t *end = size ? byte_buffer__reserve(buffer, size) : NULL;

	if (!end)
		return;
	memcpy(end, data, size);
	buffer->size += size;
}

void byte_buffer__put_number(struct byte_buffer *buffer, uint64_t number, int bytes)
{
	uint8_t *end = byte_buffer__reserve(buffer, bytes);

	for (int i = 0; end && i < bytes; i++)
		end[i] = (uint8_t)(number >> 8 * i);
	if (end)
		buffer->size += bytes;
}

void byte_buffer__put_varint(struct byte_buffer *buffer, uint64_t number)
{
	uint8_t bytes[10];
	int count = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[count++] = (uint8_t)(number | 0x80);
	bytes[count++] = (uint8_t)number;
	byte_buffer__put(buffer, bytes, count);
}

void byte_buffer__free(struct byte_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct byte_buffer){0};
}
