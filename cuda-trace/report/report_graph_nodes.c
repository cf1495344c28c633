// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes are read whole and sorted by id, to follow copies to their originals; those that are no
 * copies also by thread and time, to find the call that created them. A file may claim anything:
 * each node gets a stack once, and the way to an original has an end.
 */
#include "cuda-trace/report/report_graph_nodes.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

int graph_nodes__add(struct graph_nodes *nodes, const struct graph_node *node)
{
	if (nodes->count == GRAPH_NODES_MAX) {
		nodes->left_out++;
		return 0;
	}
	if (!array_grow__counted(nodes->list, nodes->count))
		return -ENOMEM;
	nodes->list[nodes->count++] = *node;
	return 0;
}

static int read_node(void *context, int columns, sqlite3_value **row)
{
	const struct graph_node node = {
		.thread = sqlite3_value_int64(row[0]),
		.time = sqlite3_value_int64(row[1]),
		.id = sqlite3_value_int64(row[2]),
		.original = sqlite3_value_int64(row[3]),
		.chain = GRAPH_NODES_BARE,
	};

	return graph_nodes__add(context, &node);
}

static int compare(int64_t x, int64_t y)
{
	return x < y ? -1 : x > y;
}

/* A copy's row with its original comes before the one without. */
static int by_id(const void *a, const void *b)
{
	const struct graph_node *x = a, *y = b;
	int order = compare(graph_node__process(x), graph_node__process(y));

	if (!order)
		order = compare(x->id, y->id);
	return order ? order : compare(!x->original, !y->original);
}

static int by_time(const void *a, const void *b, void *context)
{
	const struct graph_nodes *nodes = context;
	const struct graph_node *x = &nodes->list[*(const uint32_t *)a];
	const struct graph_node *y = &nodes->list[*(const uint32_t *)b];
	int order = compare(x->thread, y->thread);

	return order ? order : compare(x->time, y->time);
}

static int sort(struct graph_nodes *nodes)
{
	size_t kept = 0;

	if (nodes->count)
		qsort(nodes->list, nodes->count, sizeof(*nodes->list), by_id);
	for (size_t i = 0; i < nodes->count; i++)
		if (!kept || nodes->list[i].id != nodes->list[kept - 1].id ||
		    graph_node__process(&nodes->list[i]) !=
			    graph_node__process(&nodes->list[kept - 1]))
			nodes->list[kept++] = nodes->list[i];
	nodes->count = kept;
	nodes->created = calloc(kept + 1, sizeof(*nodes->created));
	nodes->next = calloc(kept + 1, sizeof(*nodes->next));
	if (!nodes->created || !nodes->next)
		return -ENOMEM;
	for (size_t i = 0; i < kept; i++)
		if (!nodes->list[i].original)
			nodes->created[nodes->created_count++] = i;
	qsort_r(nodes->created, nodes->created_count, sizeof(*nodes->created), by_time, nodes);
	for (size_t i = 0; i <= nodes->created_count; i++)
		nodes->next[i] = i;
	return 0;
}

static bool was_made_before(const struct graph_node *node, int64_t thread, int64_t time)
{
	return node->thread < thread || (node->thread == thread && node->time < time);
}

/* The first in `created` of that thread at that time or later, or of a later thread. */
static size_t first_since(const struct graph_nodes *nodes, int64_t thread, int64_t time)
{
	return sorted__count_before(nodes->created_count, i,
				    was_made_before(&nodes->list[nodes->created[i]], thread, time));
}

/* From that place on, the first without a stack. Shortens the way as it goes. */
static size_t first_bare(const struct graph_nodes *nodes, size_t place)
{
	while (nodes->next[place] != place) {
		nodes->next[place] = nodes->next[nodes->next[place]];
		place = nodes->next[place];
	}
	return place;
}

/* A call with a stack: it created what its thread created in its time. */
static int read_call(void *context, int columns, sqlite3_value **row)
{
	struct graph_nodes *nodes = context;
	int64_t thread = sqlite3_value_int64(row[0]), start = sqlite3_value_int64(row[1]);
	int64_t end = sqlite3_value_int64(row[2]);
	size_t place = first_bare(nodes, first_since(nodes, thread, start));

	while (place < nodes->created_count) {
		struct graph_node *node = &nodes->list[nodes->created[place]];

		if (node->thread != thread || node->time > end)
			break;
		node->chain = sqlite3_value_int64(row[3]);
		nodes->next[place] = place + 1;
		place = first_bare(nodes, place);
	}
	return 0;
}

static int read_calls(struct graph_nodes *nodes, const struct report_file *file, const char *table)
{
	char sql[160];

	if (!nodes->created_count || !report_file__has(file, table, "callchainId"))
		return 0;
	snprintf(sql, sizeof(sql),
		 "SELECT globalTid, start, end, callchainId FROM %s WHERE callchainId IS NOT NULL "
		 "AND globalTid IS NOT NULL",
		 table);
	return scan__run(file, sql, read_call, nodes);
}

static bool is_before(const struct graph_node *node, int64_t process, int64_t id)
{
	return graph_node__process(node) < process ||
	       (graph_node__process(node) == process && node->id < id);
}

size_t graph_nodes__first(const struct graph_nodes *nodes, int64_t process, int64_t id)
{
	return sorted__count_before(nodes->count, i, is_before(&nodes->list[i], process, id));
}

const struct graph_node *graph_nodes__find(const struct graph_nodes *nodes, int64_t process,
					   int64_t id)
{
	size_t low = graph_nodes__first(nodes, process, id);

	if (low == nodes->count || nodes->list[low].id != id ||
	    graph_node__process(&nodes->list[low]) != process)
		return NULL;
	return &nodes->list[low];
}

const struct graph_node *graph_nodes__origin(const struct graph_nodes *nodes,
					     const struct graph_node *node)
{
	int64_t process = graph_node__process(node);

	for (int i = 0; node && node->original; i++) {
		if (i == GRAPH_NODES_COPIES)
			return NULL;
		node = graph_nodes__find(nodes, process, node->original);
	}
	return node;
}

int graph_nodes__read(struct graph_nodes *nodes, const struct report_file *file)
{
	if (!report_file__has(file, "CUDA_GRAPH_NODE_EVENTS", "originalGraphNodeId"))
		return 0;
	return scan__run(file,
			 "SELECT globalTid, start, graphNodeId, originalGraphNodeId FROM "
			 "CUDA_GRAPH_NODE_EVENTS WHERE globalTid IS NOT NULL",
			 read_node, nodes);
}

int graph_nodes__finish(struct graph_nodes *nodes, const struct report_file *file)
{
	int err = sort(nodes);

	if (!err)
		err = read_calls(nodes, file, "CUDA_TRACE_GRAPH_CALLS");
	/* Of older recordings, and of Nsight. */
	if (!err)
		err = read_calls(nodes, file, "CUPTI_ACTIVITY_KIND_RUNTIME");
	if (nodes->left_out)
		fprintf(stderr,
			"cuda-trace %s: %llu rows of graph nodes are left out: it reads %u\n",
			file->command, (unsigned long long)nodes->left_out, GRAPH_NODES_MAX);
	return err;
}

void graph_nodes__free(struct graph_nodes *nodes)
{
	free(nodes->list);
	free(nodes->created);
	free(nodes->next);
	*nodes = (struct graph_nodes){0};
}
