/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that add a node to a graph (cuGraphAddKernelNode and others): while a stack probe is
 * listened to, they get a stack, as launches do.
 */
#ifndef LIBCUPTI_USDT_TRACE_GRAPH_ADDS_H
#define LIBCUPTI_USDT_TRACE_GRAPH_ADDS_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/rings.h"

/* Of the driver API, by the name that CUPTI has for it. For the agent's thread. */
bool graph_adds__is_one(uint32_t cbid);
/* A call of the driver API has returned; times as launches have them. */
void graph_adds__record(struct ring *ring, const struct cupti_callback_data *data, uint64_t start,
			uint64_t end);

#endif
