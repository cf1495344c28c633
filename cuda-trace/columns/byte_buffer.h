/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that grow. Without memory a buffer stays as it is and remembers that: its user asks once,
 * at the end.
 */
#ifndef CUDA_TRACE_COLUMNS_BYTE_BUFFER_H
#define CUDA_TRACE_COLUMNS_BYTE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer {
	uint8_t *data;
	size_t size, capacity;
	bool failed; /* something is missing */
};

void byte_buffer__put(struct byte_buffer *buffer, const void *data, size_t size);
/* Little-endian. */
void byte_buffer__put_number(struct byte_buffer *buffer, uint64_t number, int bytes);
/* Seven bits in each byte, the lowest first (LEB128). */
void byte_buffer__put_varint(struct byte_buffer *buffer, uint64_t number);
/* So many more bytes fit at the end; NULL: no memory. */
uint8_t *byte_buffer__reserve(struct byte_buffer *buffer, size_t size);
void byte_buffer__free(struct byte_buffer *buffer);

#endif
