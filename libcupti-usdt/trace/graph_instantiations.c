// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. an instantiation by the runtime counts twice: only the driver's call
 * is looked at, which each of the runtime's makes. 2. it is reported where nobody wants it: the
 * callbacks are on while graphs as a whole are wanted, and the batch is sent to who listens to
 * graph_batch. 3. the graph is looked into: it is the program's, and another thread may change it.
 */
#include "libcupti-usdt/trace/graph_instantiations.h"

#include <stdbool.h>

#include "libcupti-usdt/trace/api_calls.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/base/timestamps.h"

#define CBID(name, number) number,
static const uint16_t cbids[] = {DRIVER_INSTANTIATIONS(CBID) 0};
#undef CBID

const uint16_t *graph_instantiations__cbids(void)
{
	return cbids;
}

static bool is_one(uint32_t cbid)
{
	for (const uint16_t *one = cbids; *one; one++)
		if (*one == cbid)
			return true;
	return false;
}

void graph_instantiations__record(struct ring *ring, uint32_t cbid,
				  const struct cupti_callback_data *data, uint64_t start,
				  uint64_t end)
{
	struct cuda_api call;

	if (!is_one(cbid))
		return;
	call = api_calls__describe(ring, CUPTI_DOMAIN_DRIVER, cbid, data, start, end);
	call.head.kind = CUDA_RECORD_GRAPH_INSTANTIATE;
	call.group = CUDA_GROUP_API_GRAPH;
	if (probe_sites__batch_wanted(CUDA_GROUP_GRAPH))
		ring__append(ring, CUDA_GROUP_GRAPH, &call.head);
	if (!probe_sites__readable_wanted(CUDA_GROUP_GRAPH))
		return;
	call.start = timestamps__to_ns(start);
	call.end = timestamps__to_ns(end);
	probe_sites__graph_instantiate(&call, interned_names__text(call.name));
}
