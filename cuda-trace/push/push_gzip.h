/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CUDA_TRACE_PUSH_PUSH_GZIP_H
#define CUDA_TRACE_PUSH_PUSH_GZIP_H

#include <stddef.h>
#include <stdint.h>

/* In gzip's format; the caller frees it. 0 or -ENOMEM. */
int push_gzip__pack(const uint8_t *data, size_t size, uint8_t **packed, size_t *packed_size);

#endif
