/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes agents yield at once, by a word in their memory (docs/internals/yield.md): raising a
 * semaphore takes the Linux kernel 10 ms as a rule, and most of a second where others attach
 * uprobes. A thread of its own does nothing else.
 */
#ifndef CUDA_TRACE_YIELD_YIELD_HINTS_H
#define CUDA_TRACE_YIELD_YIELD_HINTS_H

#include <stdint.h>

struct yield_hints;

/* File descriptors of the maps of these names. NULL: no memory, or no thread. */
struct yield_hints *yield_hints__new(int yield_calls, int claims, int requested);
void yield_hints__free(struct yield_hints *hints);

#endif
