/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI switched on as the agent does it, and off as at the agent's detach: kinds, flush,
 * callbacks, subscriber, never cuptiFinalize(). Its price is what ours is measured against.
 */
#ifndef TESTS_BENCH_ALONE_H
#define TESTS_BENCH_ALONE_H

#include <stdbool.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_records.h"

struct alone_callbacks {
	cupti_callback call;
	cupti_buffer_requested requested;
	cupti_buffer_completed completed;
};

/* All of these end the program where CUPTI refuses: a benchmark, not an agent. */

/* The libcupti that is in the process, or $BASELINE_CUPTI, or one by soname. */
const struct cupti *alone__open(void);
/* mode: "launch" (the driver's launch callbacks), "kernel" (those and GPU records), "default" (and
 * the kinds that stat asks for by default). Callbacks NULL: they do nothing, and nobody reads the
 * buffers. */
void alone__on(const char *mode, const struct alone_callbacks *callbacks);
void alone__off(void);
/* Those that are used then: buffers of 1 MiB, from a free list. */
void alone__requested(uint8_t **buffer, size_t *size, size_t *max_records);
void alone__completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
bool alone__owns(const uint8_t *buffer);
/* One of the callbacks that are on then. */
bool alone__is_launch(int domain, uint32_t cbid);
/* Buffers that came back with records, of the callbacks of this file. */
unsigned long alone__buffers(void);

#endif
