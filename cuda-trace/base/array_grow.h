/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that grow.
 */
#ifndef CUDA_TRACE_BASE_ARRAY_GROW_H
#define CUDA_TRACE_BASE_ARRAY_GROW_H

#include <stddef.h>
#include <stdint.h>

/* The array, where it lies with space for one more element of `size` after its `count`; NULL
 * without memory, and all is as it was. `room` is how many it has space for. */
void *array_grow__for_one(void *array, uint32_t *capacity, uint32_t count, size_t size);

#endif
