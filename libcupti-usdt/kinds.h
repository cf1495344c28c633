/* SPDX-License-Identifier: BSD-2-Clause */
/* What CUPTI must do for which group: activity kinds and callbacks. Control's thread only. */
#ifndef LIBCUPTI_USDT_KINDS_H
#define LIBCUPTI_USDT_KINDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Switches kinds on and off so that those of `groups` are on. Answers the groups that could not be
 * had. Kinds that are not needed any more are switched off first.
 */
uint32_t kinds__switch(uint32_t groups);
/* Is any kind on? */
int kinds__any(void);
/* Kernels get their GPU times; on any thread. */
extern atomic_bool kinds_stamp_kernels;
static inline bool kinds__stamps_kernels(void)
{
	return atomic_load_explicit(&kinds_stamp_kernels, memory_order_relaxed);
}

/* The same for the callbacks of a subscriber. */
void cbids__switch(void *subscriber, uint32_t groups);
/* A new subscriber has none on. */
void cbids__forget(void);

#endif
