// SPDX-License-Identifier: BSD-2-Clause
/* A tree of ranges by name: a path is the number of its innermost node, so ranges that are entered
 * a million times take no more than their names. */
#include "cuda-trace/export/export_range_paths.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/export/export_ranges.h"

#define MAX_NODES (1u << 20)

struct node {
	int64_t name;
	uint32_t parent; /* 0 = none */
};

struct range_paths {
	const struct names_of_file *names;
	struct nvtx_ranges ranges;
	uint32_t *of_range; /* node of a range; 0 = not looked up yet */
	struct node *nodes; /* [0] is unused */
	uint32_t count, capacity;
	struct key_index index; /* by name and parent */
};

/* 0 = no memory, or too many: then the range is not in the path. */
static uint32_t node_of_name(struct range_paths *paths, int64_t name, uint32_t parent)
{
	uint64_t key = key_index__mix(name, parent);
	ssize_t known =
		key_index__match(&paths->index, key, i,
				 paths->nodes[i].name == name && paths->nodes[i].parent == parent);

	if (known >= 0)
		return known;
	if (paths->count == MAX_NODES ||
	    !array_grow__to(paths->nodes, paths->capacity, (size_t)paths->count + 2) ||
	    !key_index__add(&paths->index, key, paths->count + 1))
		return 0;
	paths->nodes[++paths->count] = (struct node){name, parent};
	return paths->count;
}

/* The innermost range that was open at that time, as a range; NO_RANGE = none. */
static size_t open_range(const struct range_paths *paths, size_t range, int64_t time)
{
	for (int depth = 0; range != NO_RANGE && depth < EXPORT_RANGES_DEPTH; depth++) {
		if (paths->ranges.list[range].end >= time)
			return range;
		range = paths->ranges.list[range].outer;
	}
	return NO_RANGE;
}

static uint32_t node_of_range(struct range_paths *paths, size_t range)
{
	size_t chain[EXPORT_RANGES_DEPTH];
	int depth = 0;
	uint32_t node = 0;

	/* Outwards to the first one that has a node, and back. */
	for (size_t at = range; at != NO_RANGE && depth < EXPORT_RANGES_DEPTH;) {
		const struct nvtx_range *of = &paths->ranges.list[at];

		if (paths->of_range[at]) {
			node = paths->of_range[at];
			break;
		}
		chain[depth++] = at;
		at = open_range(paths, of->outer, of->start);
	}
	while (depth) {
		size_t at = chain[--depth];

		node = node_of_name(paths, paths->ranges.list[at].name, node);
		paths->of_range[at] = node;
	}
	return node;
}

static void path_of_call(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct range_paths *paths = sqlite3_user_data(context);
	int64_t time = sqlite3_value_int64(values[1]);
	size_t range = export_ranges__at(&paths->ranges, sqlite3_value_int64(values[0]), time);
	uint32_t node;

	range = open_range(paths, range, time);
	node = range == NO_RANGE ? 0 : node_of_range(paths, range);
	if (node)
		sqlite3_result_int64(context, node);
	else
		sqlite3_result_null(context);
}

static int make_table(struct range_paths *paths, const struct report_file *file, bool graphs)
{
	static const char of_nodes[] =
		"UPDATE temp.graph_origins SET path = range_path(thread, time)";
	static const char sql[] =
		"DROP TABLE IF EXISTS temp.launch_ranges;"
		"CREATE TEMP TABLE launch_ranges (correlation INTEGER, pid INTEGER, path INTEGER, "
		"PRIMARY KEY (correlation, pid)) WITHOUT ROWID;"
		"INSERT OR IGNORE INTO temp.launch_ranges SELECT correlationId, "
		"globalTid / 0x1000000, range_path(globalTid, start) AS path FROM "
		"main.CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId <> 0 AND globalTid IS NOT "
		"NULL AND path IS NOT NULL";
	int err = 0;

	if (sqlite3_create_function(file->db, "range_path", 2, SQLITE_UTF8, paths, path_of_call,
				    NULL, NULL) ||
	    sqlite3_exec(file->db, sql, NULL, NULL, NULL) ||
	    (graphs && sqlite3_exec(file->db, of_nodes, NULL, NULL, NULL)))
		err = report_file__complain(file);
	/* It must not outlive `paths`. */
	sqlite3_create_function(file->db, "range_path", 2, SQLITE_UTF8, NULL, NULL, NULL, NULL);
	return err;
}

int range_paths__open(struct range_paths **result, const struct report_file *file,
		      const struct names_of_file *names, bool graphs)
{
	struct range_paths *paths = calloc(1, sizeof(*paths));
	int err = paths ? 0 : -ENOMEM;

	*result = paths;
	if (err)
		return err;
	paths->names = names;
	/* A kernel belongs to push/pop ranges alone, as for stat. */
	if (report_file__has(file, "NVTX_EVENTS", NULL))
		err = export_ranges__read(&paths->ranges, file, "59");
	if (!err) {
		paths->of_range = calloc(paths->ranges.count + 1, sizeof(*paths->of_range));
		err = paths->of_range ? 0 : -ENOMEM;
	}
	if (!err && report_file__has(file, "CUPTI_ACTIVITY_KIND_RUNTIME", NULL))
		err = make_table(paths, file, graphs);
	if (err) {
		range_paths__close(paths);
		*result = NULL;
	}
	return err;
}

void range_paths__get(const struct range_paths *paths, int64_t number, struct origin_path *path)
{
	uint32_t nodes[ORIGIN_DEPTH];
	size_t count = 0;

	path->count = 0;
	path->file = NULL;
	if (number <= 0 || number > paths->count)
		return;
	for (uint32_t node = number; node && count < ORIGIN_DEPTH; node = paths->nodes[node].parent)
		nodes[count++] = node;
	while (count)
		snprintf(path->names[path->count++], ORIGIN_NAME, "%s",
			 export_names__string(paths->names, paths->nodes[nodes[--count]].name));
}

void range_paths__close(struct range_paths *paths)
{
	if (!paths)
		return;
	export_ranges__free(&paths->ranges);
	free(paths->of_range);
	free(paths->nodes);
	key_index__free(&paths->index);
	free(paths);
}
