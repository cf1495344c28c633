/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Things by number: equal bytes get the same number, the first ones 1. Bounded, because what is
 * counted here comes from traced programs.
 */
#ifndef CUDA_TRACE_BASE_INTERN_H
#define CUDA_TRACE_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned;

/* `most` things that take `most_bytes` with what keeps them. */
struct interned *intern__new(uint32_t most, size_t most_bytes);
/* The number; 0 = no memory, or no space for another one. *is_new may be NULL. */
uint32_t intern__number(struct interned *set, const void *data, size_t size, bool *is_new);
/* The number that it has already; 0 = none. */
uint32_t intern__find(const struct interned *set, const void *data, size_t size);
/* Of 1 to intern__count(). */
const void *intern__at(const struct interned *set, uint32_t number, size_t *size);
uint32_t intern__count(const struct interned *set);
void intern__free(struct interned *set);

#endif
