/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes as users write them. */
#ifndef CUDA_TRACE_BASE_SIZE_TEXT_H
#define CUDA_TRACE_BASE_SIZE_TEXT_H

#include <stdint.h>

/* "500M", "2GiB" → bytes; 0 = not a size. */
uint64_t size_text__parse(const char *text);

#endif
