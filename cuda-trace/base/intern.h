/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers byte strings: equal ones get the same number, beginning with 1. Bounded, because they
 * come from traced programs.
 */
#ifndef CUDA_TRACE_BASE_INTERN_H
#define CUDA_TRACE_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned;

/* At most `most` strings, which take at most `most_bytes` with their administration. */
struct interned *intern__new(uint32_t most, size_t most_bytes);
/* The number; 0 = no memory, or no space for another one. *is_new may be NULL. */
uint32_t intern__number(struct interned *set, const void *data, size_t size, bool *is_new);
/* The number of a string that was added before; 0 = none. */
uint32_t intern__find(const struct interned *set, const void *data, size_t size);
/* Of 1 to intern__count(). */
const void *intern__at(const struct interned *set, uint32_t number, size_t *size);
uint32_t intern__count(const struct interned *set);
void intern__free(struct interned *set);

#endif
