// SPDX-License-Identifier: BSD-2-Clause
/*
 * No call is enabled for this: launches stay as they are, and so does whatever builds no graphs.
 *
 * Failure modes: 1. a node cannot be named, as an older library lacks the function: it counts as
 * lost. 2. a graph of thousands of nodes is instantiated: the thread's ring sends itself off
 * when it fills, as with launches. 3. the graph is looked into: only its handles are, by CUPTI,
 * which is what it calls back for.
 */
#include "libcupti-usdt/trace/graph_nodes.h"

#include <stddef.h>

#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/ring.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/status.h"

static bool is_on; /* of the agent's thread */

bool graph_nodes__is_one(uint32_t cbid)
{
	return cbid == CUPTI_RESOURCE_NODE_CREATED || cbid == CUPTI_RESOURCE_NODE_CLONED ||
	       cbid == CUPTI_RESOURCE_EXEC_CREATED;
}

static uint64_t id_of(void *node)
{
	const struct cupti *cupti = cupti_api__get();
	uint64_t id = 0;

	if (!node || !cupti->GetGraphNodeId || cupti->GetGraphNodeId(node, &id))
		return 0;
	return id;
}

static uint32_t graph_id(void *graph)
{
	const struct cupti *cupti = cupti_api__get();
	uint32_t id = 0;

	if (!graph || !cupti->GetGraphId || cupti->GetGraphId(graph, &id))
		return 0;
	return id;
}

uint32_t graph_nodes__exec_id(void *exec)
{
	const struct cupti *cupti = cupti_api__get();
	uint32_t id = 0;

	if (!exec || !cupti->GetGraphExecId || cupti->GetGraphExecId(exec, &id))
		return 0;
	return id;
}

static void record_exec(const struct cupti_graph_data *about)
{
	struct ring *ring = rings__mine();
	uint64_t now = timestamps__now();
	struct cuda_graph_exec record = {
		.head = {.kind = CUDA_RECORD_GRAPH_EXEC, .size = sizeof(record)},
		.start = now,
		.end = now,
		.graph = about ? graph_nodes__exec_id(about->exec) : 0,
		.tid = ring__tid(ring),
	};

	if (record.graph)
		ring__append(ring, CUDA_GROUP_GRAPH_NODES, &record.head);
}

static void record_node(uint32_t cbid, const struct cupti_graph_data *about)
{
	struct ring *ring = rings__mine();
	uint64_t now = timestamps__now();
	struct cuda_graph_node record = {
		.head = {.kind = CUDA_RECORD_GRAPH_NODE, .size = sizeof(record)},
		.start = now,
		.end = now,
		.node = about ? id_of(about->node) : 0,
		.tid = ring__tid(ring),
	};

	if (ring && cbid == CUPTI_RESOURCE_NODE_CREATED) {
		ring->node_created = now;
		ring->node = record.node;
	}
	if (record.node && cbid == CUPTI_RESOURCE_NODE_CLONED)
		record.original = id_of(about->original_node);
	if (!record.node || (cbid == CUPTI_RESOURCE_NODE_CLONED && !record.original)) {
		status__lost(CUDA_LOST_NAMELESS_NODES, 1);
		return;
	}
	record.graph = graph_id(about->graph);
	if (probe_sites__batch_wanted(CUDA_GROUP_GRAPH_NODES))
		ring__append(ring, CUDA_GROUP_GRAPH_NODES, &record.head);
	if (!probe_sites__readable_wanted(CUDA_GROUP_GRAPH_NODES))
		return;
	record.start = record.end = timestamps__to_ns(now);
	probe_sites__graph_node(&record);
}

/* Of an executable graph, nothing but that is known to be set. */
void graph_nodes__record(uint32_t cbid, const struct cupti_resource_data *data)
{
	if (cbid != CUPTI_RESOURCE_EXEC_CREATED)
		record_node(cbid, data->more);
	else if (graph_nodes__for_samples())
		record_exec(data->more);
}

void graph_nodes__origin(struct ring *ring, uint32_t correlation, uint32_t name, uint64_t start,
			 uint64_t end)
{
	struct cuda_graph_origin record = {
		.head = {CUDA_RECORD_GRAPH_ORIGIN, sizeof(record), correlation},
		.start = start,
		.end = end,
		.tid = ring__tid(ring),
		.node = ring->node,
		.name = name,
	};

	if (name && record.node)
		ring__append(ring, CUDA_GROUP_GRAPH_NODES, &record.head);
}

void graph_nodes__switch(void *subscriber, bool on)
{
	const struct cupti *cupti = cupti_api__get();

	if (on == is_on)
		return;
	cupti->EnableCallback(on, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_NODE_CREATED);
	cupti->EnableCallback(on, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_NODE_CLONED);
	cupti->EnableCallback(on, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_EXEC_CREATED);
	is_on = on;
}

void graph_nodes__forget(void)
{
	is_on = false;
}
