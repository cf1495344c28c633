/* SPDX-License-Identifier: BSD-2-Clause */
/* A payload of NVTX's payload extension as JSON. Both inputs are untrusted. */
#ifndef CUDA_TRACE_BASE_PAYLOAD_JSON_H
#define CUDA_TRACE_BASE_PAYLOAD_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes an object; `schema`: as libcupti-usdt-nvtx.so describes it (libcupti-usdt(7)). What cannot
 * be read, or is not within `size`, is null. */
void payload_json__write(FILE *file, const char *schema, const uint8_t *data, size_t size);

#endif
