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

static const uint32_t callbacks[] = {
	CUPTI_RESOURCE_NODE_CREATED,	       CUPTI_RESOURCE_NODE_CLONED,
	CUPTI_RESOURCE_GRAPH_DESTROY_STARTING, CUPTI_RESOURCE_EXEC_CREATE_STARTING,
	CUPTI_RESOURCE_EXEC_CREATED,
};
static bool is_on; /* of the agent's thread */

bool graph_nodes__is_one(uint32_t cbid)
{
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		if (callbacks[i] == cbid)
			return true;
	return false;
}

uint64_t graph_nodes__id(void *node)
{
	const struct cupti *cupti = cupti_api__get();
	uint64_t id = 0;

	if (!node || !cupti->GetGraphNodeId || cupti->GetGraphNodeId(node, &id))
		return 0;
	return id;
}

uint32_t graph_nodes__graph_id(void *graph)
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

static void send_node(struct ring *ring, struct cuda_graph_node *record)
{
	if (probe_sites__batch_wanted(CUDA_GROUP_GRAPH_NODES))
		ring__append(ring, CUDA_GROUP_GRAPH_NODES, &record->head);
	if (!probe_sites__readable_wanted(CUDA_GROUP_GRAPH_NODES))
		return;
	record->start = record->end = timestamps__to_ns(record->start);
	probe_sites__graph_node(record);
}

static void record_node(uint32_t cbid, const struct cupti_graph_data *about)
{
	struct ring *ring = rings__mine();
	uint64_t now = timestamps__now();
	struct cuda_graph_node record = {
		.head = {.kind = CUDA_RECORD_GRAPH_NODE, .size = sizeof(record)},
		.start = now,
		.end = now,
		.node = about ? graph_nodes__id(about->node) : 0,
		.tid = ring__tid(ring),
	};

	if (ring && cbid == CUPTI_RESOURCE_NODE_CREATED) {
		ring->node_created = now;
		ring->node = record.node;
		inner_graphs__created(&ring->inner, record.node);
	}
	if (record.node && cbid == CUPTI_RESOURCE_NODE_CLONED)
		record.original = graph_nodes__id(about->original_node);
	if (!record.node || (cbid == CUPTI_RESOURCE_NODE_CLONED && !record.original)) {
		status__lost(CUDA_LOST_NAMELESS_NODES, 1);
		return;
	}
	record.graph = graph_nodes__graph_id(about->graph);
	send_node(ring, &record);
}

/* A node of an inner graph is the executable graph's own now. */
static void record_moved(void *context, uint64_t id, uint64_t before)
{
	struct ring *ring = context;
	uint64_t now = timestamps__now();
	struct cuda_graph_node record = {
		.head = {.kind = CUDA_RECORD_GRAPH_NODE, .size = sizeof(record)},
		.start = now,
		.end = now,
		.node = id,
		.original = before,
		.graph = id >> 32,
		.tid = ring__tid(ring),
	};

	send_node(ring, &record);
}

/* Of an executable graph, nothing but that is known to be set. */
void graph_nodes__record(uint32_t cbid, const struct cupti_resource_data *data)
{
	const struct cupti_graph_data *about = data->more;
	struct ring *ring = rings__mine();

	switch (cbid) {
	case CUPTI_RESOURCE_GRAPH_DESTROY_STARTING:
		if (ring && about && ring->inner.is_instantiating)
			inner_graphs__graph_ends(&ring->inner, graph_nodes__graph_id(about->graph));
		break;
	case CUPTI_RESOURCE_EXEC_CREATE_STARTING:
		if (ring)
			inner_graphs__begin(&ring->inner);
		break;
	case CUPTI_RESOURCE_EXEC_CREATED:
		if (ring && about)
			inner_graphs__end(&ring->inner, graph_nodes__exec_id(about->exec),
					  record_moved, ring);
		break;
	default:
		record_node(cbid, about);
	}
}

void graph_nodes__origin(struct ring *ring, uint32_t correlation, uint64_t node, uint32_t name,
			 uint64_t start, uint64_t end)
{
	struct cuda_graph_origin record = {
		.head = {CUDA_RECORD_GRAPH_ORIGIN, sizeof(record), correlation},
		.start = start,
		.end = end,
		.tid = ring__tid(ring),
		.node = node,
		.name = name,
	};

	if (name)
		ring__append(ring, CUDA_GROUP_GRAPH_NODES, &record.head);
}

void graph_nodes__switch(void *subscriber, bool on)
{
	const struct cupti *cupti = cupti_api__get();

	if (on == is_on)
		return;
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		cupti->EnableCallback(on, subscriber, CUPTI_DOMAIN_RESOURCE, callbacks[i]);
	is_on = on;
}

void graph_nodes__forget(void)
{
	is_on = false;
}
