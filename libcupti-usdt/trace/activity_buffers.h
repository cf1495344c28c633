/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bounded pool of activity buffers.
 * activity_buffers__take() and activity_buffers__release() on any thread of CUPTI's; open and trim
 * on the agent's own.
 */
#ifndef LIBCUPTI_USDT_TRACE_ACTIVITY_BUFFERS_H
#define LIBCUPTI_USDT_TRACE_ACTIVITY_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int activity_buffers__open(void);
/* A buffer that is not in use; a discard buffer if the pool is empty. */
uint8_t *activity_buffers__take(size_t *size);
/* True once, until a buffer comes back, when few are left: what CUPTI has not filled it hands out
 * only when flushed. */
bool activity_buffers__run_low(void);
/* Whether a buffer of this size was handed out only because the pool was empty: its records are
 * counted, not read. */
bool activity_buffers__is_discard(size_t size);
/* True if CUPTI has any. */
bool activity_buffers__are_out(void);
/* It stays mapped: CUPTI may still write into it. */
void activity_buffers__release(uint8_t *buffer);
/* Returns the memory of buffers that CUPTI does not have to the system. */
void activity_buffers__trim(void);

#endif
