/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles CUPTI's activity buffers. */
#ifndef LIBCUPTI_USDT_TRACE_ACTIVITY_H
#define LIBCUPTI_USDT_TRACE_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

/* On the agent's thread, as a session begins, before any kind of record is on, and as it ends, with
 * all kinds off. Returns CUPTI's result. */
int activity__open(void);
void activity__close(void);

/* The callbacks that CUPTI has from activity__open(). On any thread. */
void activity__requested(uint8_t **buffer, size_t *size, size_t *max_records);
void activity__completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid);

/* GPU records decoded since load. */
uint64_t activity__records(void);

#endif
