/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function that a stack stands for: the innermost one outside of the C library, and that of
 * Python. Its file is found while the process lives, its name when it is wanted.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_FUNCTIONS_H
#define CUDA_TRACE_IDLE_IDLE_FUNCTIONS_H

#include <stdint.h>
#include "bpf/idle.h"

struct idle_functions;

struct idle_functions *idle_functions__new(void);
void idle_functions__free(struct idle_functions *functions);
/* A process has ended. */
void idle_functions__forget(struct idle_functions *functions, uint32_t pid);
/* The number of a function's place; 0 = not known. python: as idle_functions__python(). */
uint32_t idle_functions__number(struct idle_functions *functions, uint32_t pid,
				const uint64_t *addresses, uint32_t depth, uint32_t python);
/* The function and the line of a frame of Python; 0 = not known. `code` NULL: only if it was there
 * before. */
uint32_t idle_functions__python(struct idle_functions *functions, uint32_t pid,
				const struct idle_frame *frame, const struct event_code *code);
/* One whose name a recording has. */
uint32_t idle_functions__named(struct idle_functions *functions, const char *name);
/* Untrusted; "" = not known. Valid until the next call. */
const char *idle_functions__name(struct idle_functions *functions, uint32_t number);

#endif
