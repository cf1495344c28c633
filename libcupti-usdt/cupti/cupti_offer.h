/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libcupti that a tool passes as an open file, for processes whose file system has none (most
 * images with CUDA's runtime). Called once, in InitializeInjection.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_OFFER_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_OFFER_H

#include <stdint.h>

/* Asks whoever listens, and waits for 300 ms at most. The caller's descriptor; -1 = none came. */
int cupti_offer__receive(uint32_t driver);

#endif
