/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the calls that launch, by CUPTI's numbers: launch records carry the number only.
 */
#ifndef CUDA_TRACE_BASE_API_NAMES_H
#define CUDA_TRACE_BASE_API_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Writes the name into `out` and returns it; "[driver call N]" for a number that is not known. */
const char *store__call_name(char *out, size_t size, uint8_t domain, uint16_t cbid);
/* The number of a name that the above gives; 0 = not one of those. */
unsigned int store__call_number(uint8_t domain, const char *name);

#endif
