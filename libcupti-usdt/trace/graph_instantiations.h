/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs as they are instantiated: CUPTI has no record of it, but calls back.
 */
#ifndef LIBCUPTI_USDT_TRACE_GRAPH_INSTANTIATIONS_H
#define LIBCUPTI_USDT_TRACE_GRAPH_INSTANTIATIONS_H

#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/rings.h"

/* CUPTI's numbers of the driver calls, 0 after the last. */
const uint16_t *graph_instantiations__cbids(void);
/* Any driver call as it returns, while graphs are wanted. */
void graph_instantiations__record(struct ring *ring, uint32_t cbid,
				  const struct cupti_callback_data *data, uint64_t start,
				  uint64_t end);

#endif
