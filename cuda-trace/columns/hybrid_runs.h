/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parquet's hybrid of run lengths and packed bits, for numbers into a dictionary.
 */
#ifndef CUDA_TRACE_COLUMNS_HYBRID_RUNS_H
#define CUDA_TRACE_COLUMNS_HYBRID_RUNS_H

#include "cuda-trace/columns/byte_buffer.h"

/* Numbers of `width` bits, at most 16; NULL: all of them are 0. */
void hybrid_runs__put(struct byte_buffer *out, const uint16_t *numbers, uint32_t count, int width);

#endif
