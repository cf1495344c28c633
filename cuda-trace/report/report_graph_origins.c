// SPDX-License-Identifier: BSD-2-Clause
/*
 * A table of the nodes' origins, and an SQL function that says whose origin a kernel has: that of
 * its node, unless its graph was changed before the launch.
 */
#include "cuda-trace/report/report_graph_origins.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/report/report_graph_changes.h"
#include "cuda-trace/report/report_graph_nodes.h"
#include "cuda-trace/report/report_scan.h"

/* Lives as long as the file is open, for the SQL function. */
struct history {
	struct graph_nodes nodes; /* empty without changes */
	struct graph_changes *changes;
};

static void free_history(void *context)
{
	struct history *history = context;

	graph_nodes__free(&history->nodes);
	graph_changes__free(history->changes);
	free(history);
}

/* graph_node_at(process, node, correlation id, start of the kernel) */
static void node_at(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct history *history = sqlite3_user_data(context);
	int64_t node = sqlite3_value_int64(values[1]);

	if (history->changes)
		node = graph_changes__node_at(
			history->changes, &history->nodes, sqlite3_value_int64(values[0]), node,
			sqlite3_value_int64(values[2]), sqlite3_value_int64(values[3]));
	sqlite3_result_int64(context, node);
}

static int put(sqlite3_stmt *statement, const struct graph_node *node,
	       const struct graph_node *origin)
{
	sqlite3_bind_int64(statement, 1, graph_node__process(node));
	sqlite3_bind_int64(statement, 2, node->id);
	sqlite3_bind_int64(statement, 3, origin->thread);
	sqlite3_bind_int64(statement, 4, origin->time);
	if (origin->chain == GRAPH_NODES_BARE)
		sqlite3_bind_null(statement, 5);
	else
		sqlite3_bind_int64(statement, 5, origin->chain);
	if (sqlite3_step(statement) != SQLITE_DONE)
		return -EIO;
	sqlite3_reset(statement);
	return 0;
}

static int fill_table(const struct report_file *file, const struct graph_nodes *nodes)
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
		const struct graph_node *origin = graph_nodes__origin(nodes, &nodes->list[i]);

		err = origin ? put(statement, &nodes->list[i], origin) : 0;
	}
	if (err)
		report_file__complain(file);
	sqlite3_finalize(statement);
	/* One transaction for all of them is several times faster. */
	sqlite3_exec(file->db, "RELEASE origins", NULL, NULL, NULL);
	return err;
}

static int read_history(struct history *history, const struct report_file *file)
{
	int err = graph_nodes__read(&history->nodes, file);

	if (!err)
		err = graph_changes__read(&history->changes, &history->nodes, file);
	return err ? err : graph_nodes__finish(&history->nodes, file);
}

static int make_origins(const struct report_file *file)
{
	struct history *history = calloc(1, sizeof(*history));
	int err;

	if (!history)
		return -ENOMEM;
	err = read_history(history, file);
	if (!err)
		err = fill_table(file, &history->nodes);
	if (err) {
		free_history(history);
		return err;
	}
	if (!history->changes)
		graph_nodes__free(&history->nodes);
	/* Frees it if it fails, too. */
	if (sqlite3_create_function_v2(file->db, "graph_node_at", 4, SQLITE_UTF8, history, node_at,
				       NULL, NULL, free_history))
		return report_file__complain(file);
	return 1;
}

int graph_origins__make(const struct report_file *file)
{
	if (report_file__number(
		    file, "SELECT 1 FROM sqlite_temp_master WHERE name = 'graph_origins'", 0) == 1)
		return 1;
	if (!report_file__has(file, "CUPTI_ACTIVITY_KIND_KERNEL", "graphNodeId") ||
	    report_file__number(file,
				"SELECT 1 FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE "
				"ifnull(graphNodeId, 0) <> 0 LIMIT 1",
				0) != 1)
		return 0;
	return make_origins(file);
}

/* Before the agent reported them, how many updates there were is all that is known. */
static void say_updates(const struct report_file *file)
{
	int64_t updates = 0;

	if (!report_file__has(file, "CUDA_TRACE_GRAPH_CHANGES", "graphExecId") &&
	    report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"))
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

static void say_graphs(const struct report_file *file, sqlite3_stmt *row)
{
	if (sqlite3_column_int64(row, 0))
		fprintf(stderr,
			"cuda-trace %s: %lld of %lld kernels (%.1f %% of the time) are of %lld "
			"graphs whose creation was not recorded, because it was before tracing "
			"began, without -g, or before what --last keeps: they have the stack of "
			"the graph's launch, if any\n",
			file->command, (long long)sqlite3_column_int64(row, 0),
			(long long)sqlite3_column_int64(row, 2), sqlite3_column_double(row, 3),
			(long long)sqlite3_column_int64(row, 1));
	if (sqlite3_column_int64(row, 4))
		fprintf(stderr,
			"cuda-trace %s: of %lld of %lld kernels (%.1f %% of the time), the call "
			"that put them into their graph has no stack: it was lost, or an older "
			"cuda-trace recorded with --range, --steps or --profiler-api\n",
			file->command, (long long)sqlite3_column_int64(row, 4),
			(long long)sqlite3_column_int64(row, 2), sqlite3_column_double(row, 5));
}

/* A share of the time, not of the kernels: kernels of graphs are often the short ones. */
int graph_origins__say_missing(const struct report_file *file)
{
	static const char sql[] =
		"SELECT count(*) FILTER (WHERE alone), count(DISTINCT "
		"CASE WHEN alone THEN globalPid || ' ' || (graphNodeId / 0x100000000) END), "
		"count(*), 100.0 * sum(ns) FILTER (WHERE alone) / nullif(sum(ns), 0), "
		"count(*) FILTER (WHERE bare), "
		"100.0 * sum(ns) FILTER (WHERE bare) / nullif(sum(ns), 0) "
		"FROM (SELECT globalPid, graphNodeId, max(end - start, 0) AS ns, "
		"ifnull(graphNodeId, 0) <> 0 AND NOT EXISTS (SELECT 1 FROM " ORIGINS_OF_K
		") AS alone, ifnull(graphNodeId, 0) <> 0 AND EXISTS (SELECT 1 FROM " ORIGINS_OF_K
		" AND o.chain IS NULL) AS bare "
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
	say_graphs(file, statement);
	sqlite3_finalize(statement);
	say_updates(file);
	return 0;
}
