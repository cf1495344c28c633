// SPDX-License-Identifier: BSD-2-Clause
/*
 * A node whose parameters are set mostly keeps its kernel and gets other addresses, in each step of
 * a program. Only another kernel changes where the node's kernel comes from, so the agent compares
 * the kernel of the node in the graph that was instantiated with the one that the call sets.
 *
 * Failure modes: 1. the node of an executable graph has another kernel since an earlier call: what
 * makes it the same again is reported, too, once there was one that differed. 2. the driver cannot
 * name kernels (before CUDA 12.3): they count as the same. 3. the driver calls us back for the
 * agent's own call: graph_changes__asks().
 */
#include "libcupti-usdt/trace/graph_changes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/cupti/cuda_driver.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/ring.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/trace/graph_nodes.h"
#include "libcupti-usdt/trace/stack_sampling.h"

enum change { CHANGE_NONE, CHANGE_UPDATE, CHANGE_NODE, CHANGE_EXEC_NODE };

static atomic_bool any_replaced;

static bool begins(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

static enum change change_of(const char *name)
{
	if (!name || !begins(name, "cuGraph"))
		return CHANGE_NONE;
	if (begins(name, "cuGraphExecUpdate"))
		return CHANGE_UPDATE;
	if (begins(name, "cuGraphKernelNodeSetParams") || begins(name, "cuGraphNodeSetParams"))
		return CHANGE_NODE;
	if (begins(name, "cuGraphExecKernelNodeSetParams") ||
	    begins(name, "cuGraphExecNodeSetParams"))
		return CHANGE_EXEC_NODE;
	return CHANGE_NONE;
}

bool graph_changes__is_one(uint32_t cbid)
{
	const struct cupti *cupti = cupti_api__get();
	const char *name = NULL;

	return cupti->GetCallbackName &&
	       !cupti->GetCallbackName(CUPTI_DOMAIN_DRIVER, cbid, &name) && change_of(name);
}

static bool are_wanted(void)
{
	return atomic_load_explicit(&hot.stack_probes, memory_order_relaxed) &&
	       probe_sites__batch_wanted(CUDA_GROUP_GRAPH_NODES);
}

static void *node_of(enum change change, const void *params)
{
	const struct graph_set_params *set = params;
	const struct graph_exec_set_params *exec_set = params;

	return change == CHANGE_NODE ? set->node : exec_set->node;
}

static const void *about_of(enum change change, const void *params)
{
	const struct graph_set_params *set = params;
	const struct graph_exec_set_params *exec_set = params;

	return change == CHANGE_NODE ? set->about : exec_set->about;
}

/* NULL = it is no kernel's node, or the driver cannot say. */
static const char *kernel_after(const char *call, const void *about)
{
	const struct graph_kernel *kernel = about;

	if (!about)
		return NULL;
	if (!strstr(call, "KernelNode"))
		kernel = graph_node__kernel(about);
	else if (!strstr(call, "_v2"))
		return cuda_driver__kernel_name(*(void *const *)about, NULL);
	return kernel ? cuda_driver__kernel_name(kernel->function, kernel->kernel) : NULL;
}

static uint32_t kernel_id(struct ring *ring, enum change change,
			  const struct cupti_callback_data *data)
{
	const void *about = about_of(change, data->params);
	const char *name;

	ring->asks_driver = true;
	name = kernel_after(data->function_name, about);
	ring->asks_driver = false;
	return interned_names__intern(name);
}

/* The driver may log calls that fail, so only a node that has a kernel is looked up. */
static bool replaces(enum change change, const struct cupti_callback_data *data)
{
	const char *after = kernel_after(data->function_name, about_of(change, data->params));
	const char *before =
		after ? cuda_driver__node_kernel_name(node_of(change, data->params)) : NULL;

	return before && strcmp(before, after) != 0;
}

void graph_changes__enter(struct ring *ring, const struct cupti_callback_data *data)
{
	enum change change = change_of(data->function_name);

	if (!ring || (change != CHANGE_NODE && change != CHANGE_EXEC_NODE) || !data->params ||
	    !are_wanted())
		return;
	ring->asks_driver = true;
	ring->replacing = replaces(change, data) ? data->correlation : 0;
	ring->asks_driver = false;
}

bool graph_changes__asks(const struct ring *ring)
{
	return ring && ring->asks_driver;
}

/* False: what the nodes' kernels are of stays what it was. */
static bool describe(struct cuda_graph_change *record, const struct ring *ring, enum change change,
		     const struct cupti_callback_data *data)
{
	const struct graph_update_params *update = data->params;
	const struct graph_exec_set_params *set = data->params;
	bool replaced = change != CHANGE_UPDATE && ring->replacing == data->correlation;

	if (change != CHANGE_NODE)
		record->exec = graph_nodes__exec_id(set->exec);
	if (change == CHANGE_UPDATE)
		record->graph = graph_nodes__graph_id(update->graph);
	else
		record->node = graph_nodes__id(node_of(change, data->params));
	if (change == CHANGE_UPDATE)
		return record->exec && record->graph;
	if (replaced) {
		atomic_store_explicit(&any_replaced, true, memory_order_relaxed);
		return record->node && (change == CHANGE_NODE || record->exec);
	}
	record->graph = record->node >> 32;
	return change == CHANGE_EXEC_NODE && record->node && record->exec &&
	       atomic_load_explicit(&any_replaced, memory_order_relaxed);
}

void graph_changes__record(struct ring *ring, const struct cupti_callback_data *data,
			   uint64_t start, uint64_t end)
{
	enum change change = change_of(data->function_name);
	struct cuda_graph_change record = {
		.head = {CUDA_RECORD_GRAPH_CHANGE, sizeof(record), data->correlation},
		.start = start,
		.end = end,
	};
	bool failed = data->return_value && *(const int *)data->return_value;

	if (!ring || !change || failed || !data->params || !are_wanted() ||
	    !describe(&record, ring, change, data))
		return;
	record.tid = ring__tid(ring);
	ring__append(ring, CUDA_GROUP_GRAPH_NODES, &record.head);
	if (record.graph)
		return;
	stack_sampling__take(ring, data->correlation, data->context_id, start, end);
	if (graph_nodes__for_samples())
		graph_nodes__origin(ring, data->correlation, 0, kernel_id(ring, change, data),
				    start, end);
}
