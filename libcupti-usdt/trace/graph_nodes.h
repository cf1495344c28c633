/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of graphs as they are created: CUPTI calls back inside of the call that creates them.
 */
#ifndef LIBCUPTI_USDT_TRACE_GRAPH_NODES_H
#define LIBCUPTI_USDT_TRACE_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"

/* Is it a callback about nodes? */
bool graph_nodes__is_one(uint32_t cbid);
/* On the thread that creates the node. */
void graph_nodes__record(uint32_t cbid, const struct cupti_resource_data *data);
/* Switches the callbacks, and nothing if they are as wanted. */
void graph_nodes__switch(void *subscriber, bool on);
/* CUPTI has forgotten its callbacks. */
void graph_nodes__forget(void);

#endif
