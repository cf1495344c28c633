// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes are read whole and sorted by id, to follow copies to their originals; those that are no
 * copies also by thread and time, to find the call that created them. A file may claim anything:
 * each node gets a stack once, and the way to an original has an end.
 */
#include "cuda-trace/report/report_graph_origins.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

#define MAX_ROWS   (2u << 20) /* what a file has beyond these is left out and counted */
#define MAX_COPIES 64	      /* of copies of a node */
#define NO_CHAIN   INT64_MIN

struct node {
	int64_t id, original; /* 0 = it is no copy */
	int64_t thread;	      /* globalTid; also says the process */
	int64_t time;
	int64_t chain;
};

struct nodes {
	struct node *list; /* by process and id */
	size_t count;
	uint64_t left_out;
	uint32_t *created; /* numbers of those that are no copies, by thread and time */
	uint32_t *next;	   /* by place in `created`: a later or the same one without a stack */
	size_t created_count;
};

static int64_t process_of(const struct node *node)
{
	return node->thread / 0x1000000;
}

static int read_node(void *context, int columns, sqlite3_value **row)
{
	struct nodes *nodes = context;
	struct node node = {
		.thread = sqlite3_value_int64(row[0]),
		.time = sqlite3_value_int64(row[1]),
		.id = sqlite3_value_int64(row[2]),
		.original = sqlite3_value_int64(row[3]),
		.chain = NO_CHAIN,
	};

	if (nodes->count == MAX_ROWS) {
		nodes->left_out++;
		return 0;
	}
	if (!array_grow__counted(nodes->list, nodes->count))
		return -ENOMEM;
	nodes->list[nodes->count++] = node;
	return 0;
}

static int compare(int64_t x, int64_t y)
{
	return x < y ? -1 : x > y;
}

/* A copy's row with its original comes before the one without. */
static int by_id(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	int order = compare(process_of(x), process_of(y));

	if (!order)
		order = compare(x->id, y->id);
	return order ? order : compare(!x->original, !y->original);
}

static int by_time(const void *a, const void *b, void *context)
{
	const struct nodes *nodes = context;
	const struct node *x = &nodes->list[*(const uint32_t *)a];
	const struct node *y = &nodes->list[*(const uint32_t *)b];
	int order = compare(x->thread, y->thread);

	return order ? order : compare(x->time, y->time);
}

static int sort(struct nodes *nodes)
{
	size_t kept = 0;

	if (nodes->count)
		qsort(nodes->list, nodes->count, sizeof(*nodes->list), by_id);
	for (size_t i = 0; i < nodes->count; i++)
		if (!kept || nodes->list[i].id != nodes->list[kept - 1].id ||
		    process_of(&nodes->list[i]) != process_of(&nodes->list[kept - 1]))
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

static bool was_made_before(const struct node *node, int64_t thread, int64_t time)
{
	return node->thread < thread || (node->thread == thread && node->time < time);
}

/* The first in `created` of that thread at that time or later, or of a later thread. */
static size_t first_since(const struct nodes *nodes, int64_t thread, int64_t time)
{
	return sorted__count_before(nodes->created_count, i,
				    was_made_before(&nodes->list[nodes->created[i]], thread, time));
}

/* From that place on, the first without a stack. Shortens the way as it goes. */
static size_t first_bare(const struct nodes *nodes, size_t place)
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
	struct nodes *nodes = context;
	int64_t thread = sqlite3_value_int64(row[0]), start = sqlite3_value_int64(row[1]);
	int64_t end = sqlite3_value_int64(row[2]);
	size_t place = first_bare(nodes, first_since(nodes, thread, start));

	while (place < nodes->created_count) {
		struct node *node = &nodes->list[nodes->created[place]];

		if (node->thread != thread || node->time > end)
			break;
		node->chain = sqlite3_value_int64(row[3]);
		nodes->next[place] = place + 1;
		place = first_bare(nodes, place);
	}
	return 0;
}

static bool is_before(const struct node *node, int64_t process, int64_t id)
{
	return process_of(node) < process || (process_of(node) == process && node->id < id);
}

static const struct node *find(const struct nodes *nodes, int64_t process, int64_t id)
{
	size_t low = sorted__count_before(nodes->count, i, is_before(&nodes->list[i], process, id));

	if (low == nodes->count || nodes->list[low].id != id ||
	    process_of(&nodes->list[low]) != process)
		return NULL;
	return &nodes->list[low];
}

/* NULL = it is a copy of one that was not recorded. */
static const struct node *origin_of(const struct nodes *nodes, const struct node *node)
{
	int64_t process = process_of(node);

	for (int i = 0; node && node->original; i++) {
		if (i == MAX_COPIES)
			return NULL;
		node = find(nodes, process, node->original);
	}
	return node;
}

static int put(sqlite3_stmt *statement, const struct node *node, const struct node *origin)
{
	sqlite3_bind_int64(statement, 1, process_of(node));
	sqlite3_bind_int64(statement, 2, node->id);
	sqlite3_bind_int64(statement, 3, origin->thread);
	sqlite3_bind_int64(statement, 4, origin->time);
	if (origin->chain == NO_CHAIN)
		sqlite3_bind_null(statement, 5);
	else
		sqlite3_bind_int64(statement, 5, origin->chain);
	if (sqlite3_step(statement) != SQLITE_DONE)
		return -EIO;
	sqlite3_reset(statement);
	return 0;
}

static int fill_table(const struct report_file *file, const struct nodes *nodes)
{
	static const char create[] =
		"CREATE TEMP TABLE graph_origins (pid INTEGER, node INTEGER, thread INTEGER, "
		"time INTEGER, chain INTEGER, path INTEGER, PRIMARY KEY (pid, node)) WITHOUT ROWID;"
		"SAVEPOINT origins";
	static const char insert[] = "INSERT INTO temp.graph_origins VALUES (?,?,?,?,?,NULL)";
	sqlite3_stmt *statement = NULL;
	int err = 0;

	if (sqlite3_exec(file->db, create, NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(file->db, insert, -1, &statement, NULL))
		return report_file__complain(file);
	for (size_t i = 0; i < nodes->count && !err; i++) {
		const struct node *origin = origin_of(nodes, &nodes->list[i]);

		err = origin ? put(statement, &nodes->list[i], origin) : 0;
	}
	if (err)
		report_file__complain(file);
	sqlite3_finalize(statement);
	/* One transaction for all of them is several times faster. */
	sqlite3_exec(file->db, "RELEASE origins", NULL, NULL, NULL);
	return err;
}

static int read_all(const struct report_file *file, struct nodes *nodes)
{
	int err = 0;

	if (report_file__has(file, "CUDA_GRAPH_NODE_EVENTS", "originalGraphNodeId"))
		err = scan__run(file,
				"SELECT globalTid, start, graphNodeId, originalGraphNodeId FROM "
				"CUDA_GRAPH_NODE_EVENTS WHERE globalTid IS NOT NULL",
				read_node, nodes);
	if (!err)
		err = sort(nodes);
	if (!err && nodes->created_count &&
	    report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId"))
		err = scan__run(file,
				"SELECT globalTid, start, end, callchainId FROM "
				"CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL AND "
				"globalTid IS NOT NULL",
				read_call, nodes);
	if (nodes->left_out)
		fprintf(stderr,
			"cuda-trace %s: %llu rows of graph nodes are left out: it reads %u\n",
			file->command, (unsigned long long)nodes->left_out, MAX_ROWS);
	return err;
}

int graph_origins__make(const struct report_file *file)
{
	struct nodes nodes = {0};
	int err;

	if (report_file__number(
		    file, "SELECT 1 FROM sqlite_temp_master WHERE name = 'graph_origins'", 0) == 1)
		return 1;
	if (!report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", "graphNodeId") ||
	    report_file__number(file,
				"SELECT 1 FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE "
				"ifnull(graphNodeId, 0) <> 0 LIMIT 1",
				0) != 1)
		return 0;
	err = read_all(file, &nodes);
	if (!err)
		err = fill_table(file, &nodes);
	free(nodes.list);
	free(nodes.created);
	free(nodes.next);
	return err ? err : 1;
}

/* How many updates there were is all that is known: CUPTI does not say of which graph. */
static void say_updates(const struct report_file *file)
{
	int64_t updates = 0;

	if (report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"))
		updates = report_file__number(
			file,
			"SELECT count(DISTINCT correlationId || ' ' || globalTid / 0x1000000) FROM "
			"CUPTI_ACTIVITY_KIND_RUNTIME WHERE returnValue = 0 AND nameId IN (SELECT "
			"id "
			"FROM StringIds WHERE value GLOB 'cu*GraphExecUpdate*')",
			0);
	if (updates > 0)
		fprintf(stderr,
			"cuda-trace %s: %lld call%s of cuGraphExecUpdate: kernels of updated "
			"graphs have the stacks of the first capture\n",
			file->command, (long long)updates, updates > 1 ? "s" : "");
}

/* A share of the time, not of the kernels: kernels of graphs are often the short ones. */
int graph_origins__say_missing(const struct report_file *file)
{
	static const char sql[] =
		"SELECT count(*) FILTER (WHERE alone), count(DISTINCT "
		"CASE WHEN alone THEN globalPid || ' ' || graphNodeId / 0x100000000 END), "
		"count(*), 100.0 * sum(ns) FILTER (WHERE alone) / nullif(sum(ns), 0) "
		"FROM (SELECT globalPid, graphNodeId, max(end - start, 0) AS ns, "
		"ifnull(graphNodeId, 0) <> 0 AND NOT EXISTS (SELECT 1 FROM temp.graph_origins AS o "
		"WHERE o.pid = k.globalPid / 0x1000000 AND o.node = k.graphNodeId) AS alone "
		"FROM CUPTI_ACTIVITY_KIND_KERNEL AS k)";
	static bool said; /* each export reads the kernels */
	sqlite3_stmt *statement = NULL;

	if (said)
		return 0;
	said = true;
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL) ||
	    sqlite3_step(statement) != SQLITE_ROW) {
		sqlite3_finalize(statement);
		return report_file__complain(file);
	}
	if (sqlite3_column_int64(statement, 0))
		fprintf(stderr,
			"cuda-trace %s: %lld of %lld kernels (%.1f %% of the time) are of %lld "
			"graphs whose creation was not recorded, because it was before tracing "
			"began or without -g: they have the stack of the graph's launch, if any\n",
			file->command, (long long)sqlite3_column_int64(statement, 0),
			(long long)sqlite3_column_int64(statement, 2),
			sqlite3_column_double(statement, 3),
			(long long)sqlite3_column_int64(statement, 1));
	sqlite3_finalize(statement);
	say_updates(file);
	return 0;
}
