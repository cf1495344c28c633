/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls after which nodes of graphs do something else: cuGraphExecUpdate(), and those that set the
 * parameters of a node. On the thread that makes the call.
 */
#ifndef LIBCUPTI_USDT_TRACE_GRAPH_CHANGES_H
#define LIBCUPTI_USDT_TRACE_GRAPH_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"

struct ring;

/* Is it such a call of the driver API? */
bool graph_changes__is_one(uint32_t cbid);
/* At its entry, and of any other call: notes whether it gives a node another kernel. */
void graph_changes__enter(struct ring *ring, const struct cupti_callback_data *data);
/* At its exit, and of any other call. */
void graph_changes__record(struct ring *ring, const struct cupti_callback_data *data,
			   uint64_t start, uint64_t end);
/* Is the thread in a call of the driver that the functions above make? It is none of the
 * program's. */
bool graph_changes__asks(const struct ring *ring);

#endif
