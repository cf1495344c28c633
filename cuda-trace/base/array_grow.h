/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that grow.
 */
#ifndef CUDA_TRACE_BASE_ARRAY_GROW_H
#define CUDA_TRACE_BASE_ARRAY_GROW_H

#include <stddef.h>
#include <stdint.h>

/* Returns the array, grown so that one more element of `size` fits after its `count`; NULL (array
 * unchanged) if out of memory. `capacity` is how many elements fit. */
void *array_grow__for_one(void *array, uint32_t *capacity, uint32_t count, size_t size);

#endif
