/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles CUPTI's activity buffers. On any of CUPTI's threads. */
#ifndef LIBCUPTI_USDT_TRACE_ACTIVITY_H
#define LIBCUPTI_USDT_TRACE_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

/* Registered with cuptiActivityRegisterCallbacks(). */
void activity__requested(uint8_t **buffer, size_t *size, size_t *max_records);
void activity__completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid);

/* GPU records decoded since load. */
uint64_t activity__records(void);

#endif
