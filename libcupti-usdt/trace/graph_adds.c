// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. it created nothing, as a call that failed: then no callback came between its
 * entry and its exit. 2. a later version has other calls: they are known by their names, and a call
 * that CUPTI cannot name is none.
 */
#include "libcupti-usdt/trace/graph_adds.h"

#include <string.h>

#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/cupti/cuda_driver.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/ring.h"
#include "libcupti-usdt/trace/graph_nodes.h"
#include "libcupti-usdt/trace/stack_sampling.h"

static bool adds(const char *name)
{
	static const char beginning[] = "cuGraphAdd";

	return !strncmp(name, beginning, sizeof(beginning) - 1) && !strstr(name, "Dependenc");
}

bool graph_adds__is_one(uint32_t cbid)
{
	const struct cupti *cupti = cupti_api__get();
	const char *name = NULL;

	return cupti->GetCallbackName &&
	       !cupti->GetCallbackName(CUPTI_DOMAIN_DRIVER, cbid, &name) && name && adds(name);
}

/* NULL = the node is not a kernel's, or the driver cannot say. */
static const char *kernel_name(const char *call, const struct cupti_callback_data *data)
{
	const struct graph_add_params *params = data->params;
	const struct graph_kernel *kernel = NULL;

	if (!params || (data->return_value && *(const int *)data->return_value))
		return NULL;
	if (!strcmp(call, "cuGraphAddKernelNode"))
		return cuda_driver__kernel_name(*(void *const *)params->about, NULL);
	if (!strcmp(call, "cuGraphAddKernelNode_v2"))
		kernel = params->about;
	else if (!strcmp(call, "cuGraphAddNode"))
		kernel = graph_node__kernel(params->about);
	else if (!strcmp(call, "cuGraphAddNode_v2"))
		kernel = graph_node__kernel(params->about_v2);
	return kernel ? cuda_driver__kernel_name(kernel->function, kernel->kernel) : NULL;
}

void graph_adds__record(struct ring *ring, const struct cupti_callback_data *data, uint64_t start,
			uint64_t end)
{
	const char *name = data->function_name;

	if (!atomic_load_explicit(&hot.stack_probes, memory_order_relaxed) || !ring ||
	    ring->node_created < start || !name || !adds(name))
		return;
	stack_sampling__take(ring, data->correlation, data->context_id, start, end);
	if (graph_nodes__for_samples() && ring->node)
		graph_nodes__origin(ring, data->correlation, ring->node,
				    interned_names__intern(kernel_name(name, data)), start, end);
}
