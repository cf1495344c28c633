// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* as deflateInit2() requests gzip's head */

int push_gzip__pack(const uint8_t *data, size_t size, uint8_t **packed, size_t *packed_size)
{
	z_stream stream = {.next_in = (Bytef *)data, .avail_in = size};
	uLong bound;

	if (size > UINT_MAX || deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8,
					    Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&stream, size);
	*packed = malloc(bound);
	stream.next_out = *packed;
	stream.avail_out = bound;
	if (!*packed || deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		deflateEnd(&stream);
		free(*packed);
		*packed = NULL;
		return -ENOMEM;
	}
	*packed_size = stream.total_out;
	deflateEnd(&stream);
	return 0;
}
