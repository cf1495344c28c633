/* SPDX-License-Identifier: BSD-2-Clause */
/* What CUPTI calls as the program calls CUDA. */
#ifndef LIBCUPTI_USDT_CONTROL_CALLBACKS_H
#define LIBCUPTI_USDT_CONTROL_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

/* Given to cuptiSubscribe(). On any thread of the program's. */
void callbacks__dispatch(void *userdata, int domain, uint32_t cbid, const void *data);

/* The groups whose records callbacks write, and since when; 0 stops them. */
void callbacks__set_groups(uint32_t groups);

/* CUPTI has reported a fatal error; the second says so once. */
bool callbacks__is_fatal(void);
bool callbacks__fetch_fatal(void);

#endif
