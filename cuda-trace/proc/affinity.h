/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPUs that a thread runs on. Any thread, for itself.
 */
#ifndef CUDA_TRACE_PROC_AFFINITY_H
#define CUDA_TRACE_PROC_AFFINITY_H

#include <stdint.h>

/* Keeps the calling thread, and what it starts, off this CPU until affinity__restore(). Does
 * nothing if it may use no other, or has left one already. */
void affinity__leave(uint32_t cpu);
void affinity__restore(void);

#endif
