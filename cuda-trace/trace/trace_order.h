/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines in order of time. They come by sort and thread, GPU records up to 200 ms after the calls:
 * each is kept for a moment, in which those that belong before it can come.
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
/* Writes those that were kept for long enough; to be called some times a second. */
void trace_order__tick(struct trace_order *order);
void trace_order__flush(struct trace_order *order);

#endif
