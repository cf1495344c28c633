/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function that a stack stands for: the innermost one outside of the C library. Its file is
 * found while the process lives, its name when it is wanted.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_FUNCTIONS_H
#define CUDA_TRACE_IDLE_IDLE_FUNCTIONS_H

#include <stdint.h>

struct idle_functions;

struct idle_functions *idle_functions__new(void);
void idle_functions__free(struct idle_functions *functions);
/* The number of a function's place; 0 = not known.
 */
uint32_t idle_functions__number(struct idle_functions *functions, uint32_t pid,
				const uint64_t *addresses, uint32_t depth);
/* Untrusted; "" = not known. Valid until the next call. */
const char *idle_functions__name(struct idle_functions *functions, uint32_t number);

#endif
