// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. the call is recorded twice: who wants all calls on graphs has its record from
 * there, and it gets no other. 2. it created nothing, as a call that failed: then no callback came
 * between its entry and its exit. 3. a later version has other calls: they are known by their
 * names, and a call that CUPTI cannot name is none.
 */
#include "libcupti-usdt/trace/graph_adds.h"

#include <string.h>

#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/ring.h"
#include "libcupti-usdt/trace/api_calls.h"
#include "libcupti-usdt/trace/stack_sampling.h"

#define BIT(group) (1U << CUDA_GROUP_##group)

bool graph_adds__is_one(uint32_t cbid)
{
	const struct cupti *cupti = cupti_api__get();
	const char *name = NULL;

	return cupti->GetCallbackName &&
	       !cupti->GetCallbackName(CUPTI_DOMAIN_DRIVER, cbid, &name) && name &&
	       !strncmp(name, "cuGraphAdd", 10) && !strstr(name, "Dependenc");
}

void graph_adds__record(struct ring *ring, uint32_t groups, uint32_t cbid,
			const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	struct cuda_api call;

	if (!ring || ring->node_created < start || !data->function_name ||
	    strncmp(data->function_name, "cuGraphAdd", 10) != 0 ||
	    !atomic_load_explicit(&hot.stack_probes, memory_order_relaxed))
		return;
	if (!(groups & BIT(API_GRAPH)) && probe_sites__batch_wanted(CUDA_GROUP_GRAPH_NODES)) {
		call = api_calls__describe(ring, CUPTI_DOMAIN_DRIVER, cbid, data, start, end);
		call.head.kind = CUDA_RECORD_API;
		call.group = CUDA_GROUP_API_GRAPH;
		ring__append(ring, CUDA_GROUP_GRAPH_NODES, &call.head);
	}
	stack_sampling__take(ring, data->correlation, data->context_id);
}
