/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's own memory: a few large mappings, made when it first becomes active and never
 * unmapped, because CUPTI and launching threads may use addresses in them until the process ends.
 */
#ifndef LIBCUPTI_USDT_BASE_MEMORY_H
#define LIBCUPTI_USDT_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed, resident only where touched; NULL if out of memory. At most 12 calls. */
void *memory__map(size_t size);
/* How much of it is resident. Any thread; takes some 10 us for each 16 MiB mapped. */
uint32_t memory__resident_kib(void);

#endif
