/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's own memory: a few large mappings, made when it first goes active and never unmapped,
 * as CUPTI and launching threads may hold addresses in them for as long as the process lives.
 */
#ifndef LIBCUPTI_USDT_BASE_MEMORY_H
#define LIBCUPTI_USDT_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed, resident only where touched; NULL when there is none. At most 12 calls. */
void *memory__map(size_t size);
/* What of it is resident. Any thread; takes some 10 us for each 16 MiB mapped. */
uint32_t memory__resident_kib(void);

#endif
