// SPDX-License-Identifier: BSD-2-Clause
/*
 * A node does what it was a copy of when it was copied, until a change; and what it does then may
 * itself have been changed before. So the way goes back in time: at each node to the latest change
 * before, and to what that says.
 *
 * Failure modes: 1. a way without an end in a damaged file: GRAPH_NODES_COPIES steps. 2. the wrong
 * counterpart: an update pairs the nodes of two graphs, which the driver only does where they are
 * alike; nodes are paired in the order of their ids, if both graphs have as many. 3. launches and
 * changes without end: GRAPH_NODES_MAX of each are read.
 */
#include "cuda-trace/report/report_graph_changes.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/report/report_scan.h"

#define GRAPH_OF(id) ((id) >> 32) /* 32 bits; below 0 of nodes that stand for calls */

struct change {
	int64_t process, exec, node; /* 0: of no executable graph; all nodes of it */
	int64_t time;		     /* the call's end */
	int64_t graph;		     /* 0: `own` says it */
	int64_t own;		     /* id of the node that stands for the call */
};

struct launch {
	int64_t process, correlation, time;
};

struct graph_changes {
	struct change *list; /* by process, exec, node and time */
	size_t count;
	struct launch *launches; /* of graphs; by process and correlation id */
	size_t launch_count;
	uint64_t left_out;
};

struct reading {
	struct graph_changes *changes;
	struct graph_nodes *nodes;
};

static int read_change(void *context, int columns, sqlite3_value **row)
{
	struct reading *reading = context;
	struct graph_changes *changes = reading->changes;
	int64_t start = sqlite3_value_int64(row[1]), end = sqlite3_value_int64(row[2]);
	/* In the middle: the times of the call's stack are rounded in another way. */
	struct graph_node call = {
		.thread = sqlite3_value_int64(row[0]),
		.time = start / 2 + end / 2,
		.chain = GRAPH_NODES_BARE,
	};
	struct change change = {
		.process = graph_node__process(&call),
		.exec = (uint32_t)sqlite3_value_int64(row[3]),
		.node = sqlite3_value_int64(row[4]),
		.time = end,
		.graph = (uint32_t)sqlite3_value_int64(row[5]),
	};

	if (changes->count == GRAPH_NODES_MAX) {
		changes->left_out++;
		return 0;
	}
	call.id = change.own = -1 - (int64_t)changes->count;
	if (!array_grow__counted(changes->list, changes->count))
		return -ENOMEM;
	changes->list[changes->count++] = change;
	return change.graph ? 0 : graph_nodes__add(reading->nodes, &call);
}

static int read_launch(void *context, int columns, sqlite3_value **row)
{
	struct graph_changes *changes = context;
	struct launch launch = {
		.process = sqlite3_value_int64(row[0]) / 0x1000000,
		.correlation = sqlite3_value_int64(row[1]),
		.time = sqlite3_value_int64(row[2]),
	};

	if (changes->launch_count == GRAPH_NODES_MAX) {
		changes->left_out++;
		return 0;
	}
	if (!array_grow__counted(changes->launches, changes->launch_count))
		return -ENOMEM;
	changes->launches[changes->launch_count++] = launch;
	return 0;
}

static int compare(int64_t x, int64_t y)
{
	return x < y ? -1 : x > y;
}

/* With the one that an exec, a node and a time ask for: those before it are less. */
static int order(const struct change *x, const struct change *y)
{
	int order = compare(x->process, y->process);

	order = order ? order : compare(x->exec, y->exec);
	order = order ? order : compare(x->node, y->node);
	return order ? order : compare(x->time, y->time);
}

static int by_order(const void *a, const void *b)
{
	return order(a, b);
}

static int by_correlation(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;
	int order = compare(x->process, y->process);

	order = order ? order : compare(x->correlation, y->correlation);
	return order ? order : compare(x->time, y->time);
}

int graph_changes__read(struct graph_changes **changes, struct graph_nodes *nodes,
			const struct report_file *file)
{
	static const char sql[] =
		"SELECT globalTid, start, end, ifnull(graphExecId, 0), ifnull(graphNodeId, 0), "
		"ifnull(graphId, 0) FROM CUDA_TRACE_GRAPH_CHANGES";
	static const char launches[] =
		"SELECT globalTid, correlationId, start FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE "
		"correlationId <> 0 AND globalTid IS NOT NULL AND nameId IN (SELECT id FROM "
		"StringIds WHERE value GLOB 'cu*GraphLaunch*')";
	struct graph_changes *made;
	int err;

	*changes = NULL;
	if (!report_file__has(file, "CUDA_TRACE_GRAPH_CHANGES", "graphExecId"))
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	err = scan__run(file, sql, read_change, &(struct reading){made, nodes});
	if (!err && made->count && report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"))
		err = scan__run(file, launches, read_launch, made);
	if (made->left_out)
		fprintf(stderr,
			"cuda-trace %s: %llu changes and launches of graphs are left out: it reads "
			"%u of each\n",
			file->command, (unsigned long long)made->left_out, GRAPH_NODES_MAX);
	if (err || !made->count) {
		graph_changes__free(made);
		return err;
	}
	qsort(made->list, made->count, sizeof(*made->list), by_order);
	if (made->launch_count)
		qsort(made->launches, made->launch_count, sizeof(*made->launches), by_correlation);
	*changes = made;
	return 0;
}

void graph_changes__free(struct graph_changes *changes)
{
	if (!changes)
		return;
	free(changes->list);
	free(changes->launches);
	free(changes);
}

/* The latest of that node of that executable graph, until then. */
static const struct change *latest(const struct graph_changes *changes, int64_t process,
				   int64_t exec, int64_t node, int64_t time)
{
	const struct change wanted = {.process = process, .exec = exec, .node = node, .time = time};
	size_t after =
		sorted__count_before(changes->count, i, order(&changes->list[i], &wanted) <= 0);
	const struct change *found = after ? &changes->list[after - 1] : NULL;

	return found && found->process == process && found->exec == exec && found->node == node
		       ? found
		       : NULL;
}

static const struct change *later(const struct change *x, const struct change *y)
{
	return !x || (y && y->time > x->time) ? y : x;
}

/* That is in force for the node at that time; NULL = it does what it was copied to do. */
static const struct change *change_of(const struct graph_changes *changes,
				      const struct graph_nodes *nodes,
				      const struct graph_node *node, int64_t time)
{
	int64_t process = graph_node__process(node), exec = GRAPH_OF(node->id);
	const struct change *found = latest(changes, process, 0, node->id, time);
	const struct graph_node *at = node;

	if (node->original)
		found = later(found, latest(changes, process, exec, 0, time));
	/* Of a body's node, it is the original's original that the program knows. */
	for (int i = 0; at && at->original && i < GRAPH_NODES_COPIES; i++) {
		found = later(found, latest(changes, process, exec, at->original, time));
		at = graph_nodes__find(nodes, process, at->original);
	}
	return found && found->time >= node->time ? found : NULL;
}

static size_t first_of(const struct graph_nodes *nodes, int64_t process, int64_t graph)
{
	return graph_nodes__first(nodes, process, (int64_t)((uint64_t)graph << 32));
}

/* The node of `graph` whose work the node of an executable graph does since an update: that in the
 * place of the node it is a copy of. Inner graphs are paired with others, which nothing says. */
static const struct graph_node *counterpart(const struct graph_nodes *nodes,
					    const struct graph_node *node, int64_t graph)
{
	int64_t process = graph_node__process(node), template = GRAPH_OF(node->original);
	const struct graph_node *first = &nodes->list[first_of(nodes, process, GRAPH_OF(node->id))];
	const struct graph_node *original = graph_nodes__find(nodes, process, node->original);
	size_t ours = first_of(nodes, process, template);
	size_t theirs = first_of(nodes, process, graph);

	if (!original || GRAPH_OF(first->original) != template ||
	    first_of(nodes, process, template + 1) - ours !=
		    first_of(nodes, process, graph + 1) - theirs)
		return NULL;
	return &nodes->list[theirs + (original - &nodes->list[ours])];
}

static const struct graph_node *source_of(const struct graph_changes *changes,
					  const struct graph_nodes *nodes,
					  const struct graph_node *node, int64_t *time)
{
	const struct change *change = change_of(changes, nodes, node, *time);
	int64_t process = graph_node__process(node);
	const struct graph_node *original =
		node->original ? graph_nodes__find(nodes, process, node->original) : NULL;

	*time = change ? change->time : node->time;
	if (!change || change->node)
		return change && !change->graph ? graph_nodes__find(nodes, process, change->own)
						: original;
	return counterpart(nodes, node, change->graph);
}

static int64_t launched(const struct graph_changes *changes, int64_t process, int64_t correlation,
			int64_t start)
{
	const struct launch wanted = {process, correlation, INT64_MIN};
	size_t at = sorted__count_before(changes->launch_count, i,
					 by_correlation(&changes->launches[i], &wanted) < 0);

	if (correlation && at < changes->launch_count && changes->launches[at].process == process &&
	    changes->launches[at].correlation == correlation)
		return changes->launches[at].time;
	return start;
}

int64_t graph_changes__node_at(const struct graph_changes *changes, const struct graph_nodes *nodes,
			       int64_t process, int64_t id, int64_t correlation, int64_t start)
{
	const struct graph_node *node = graph_nodes__find(nodes, process, id);
	int64_t time = launched(changes, process, correlation, start);

	for (int i = 0; node && i < GRAPH_NODES_COPIES; i++) {
		bool is_source = !node->original && !change_of(changes, nodes, node, time);

		if (is_source)
			return node->id;
		node = source_of(changes, nodes, node, &time);
	}
	return 0;
}
