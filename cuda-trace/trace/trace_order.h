/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts lines by time. Records arrive by kind and thread, GPU records up to 200 ms after the calls:
 * each line is kept for a moment, so that earlier ones can arrive.
 */
#ifndef CUDA_TRACE_TRACE_TRACE_ORDER_H
#define CUDA_TRACE_TRACE_TRACE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct trace_order;

struct trace_order *trace_order__new(FILE *output);
/* Writes what is left. */
void trace_order__free(struct trace_order *order);
void trace_order__add(struct trace_order *order, uint64_t time, const char *line, size_t length);
/* Writes lines that were kept long enough; to be called several times a second. */
void trace_order__tick(struct trace_order *order);
void trace_order__flush(struct trace_order *order);

#endif
