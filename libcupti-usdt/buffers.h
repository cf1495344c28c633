/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bounded pool of activity buffers, each with the batches into which it is decoded.
 * buffers__take() and buffers__give() on any thread of CUPTI's; open and trim on the guest's own.
 */
#ifndef LIBCUPTI_USDT_BUFFERS_H
#define LIBCUPTI_USDT_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "libcupti-usdt/batches.h"

/* Groups that GPU records belong to; their batches lie beside the buffer. */
enum buffer_batch {
	BUFFER_KERNEL,
	BUFFER_MEMCPY,
	BUFFER_MEMSET,
	BUFFER_MEMORY,
	BUFFER_SYNC,
	BUFFER_GRAPH,
	BUFFER_OVERHEAD,
	BUFFER_UVM,
	BUFFER_OBJECT,
	BUFFER_BATCHES
};

int buffers__open(void);
/* Never the same twice: when the pool is empty a discard buffer is mapped. */
uint8_t *buffers__take(size_t *size);
void buffers__give(uint8_t *buffer);
/* The batches of a buffer; NULL for a discard buffer, whose records are only counted. */
struct batch *buffers__batches(uint8_t *buffer);
/* Gives the memory of buffers that CUPTI does not hold back to the system. */
void buffers__trim(void);

#endif
