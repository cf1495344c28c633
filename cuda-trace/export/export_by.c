// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of report --by. The tree of GPU time has what is needed, of all processes and GPUs;
 * what was not found has rows of its own, which come last and which no limit hides.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_origins.h"
#include "cuda-trace/export/export_stack_tree.h"

#define LONGEST 8192

/* A path of modules is one name; of the others the innermost counts. */
static void name_of(const struct stacks *stacks, uint32_t node, enum report_by by, char *out,
		    size_t size)
{
	uint32_t nodes[ORIGIN_DEPTH];
	size_t count = 0, n = 0;

	/* The process has depth 1. */
	for (uint32_t at = node; stacks->nodes[at].depth > 1 && count < ORIGIN_DEPTH;
	     at = stacks->nodes[at].parent) {
		nodes[count++] = at;
		if (by != REPORT_BY_MODULE)
			break;
	}
	*out = '\0';
	while (count && n < size) {
		const char *name = stacks->nodes[nodes[--count]].name;

		n += snprintf(out + n, size - n, "%s%s", n ? " > " : "", name);
	}
}

static int add_leaf(const struct stacks *stacks, struct stacks *sums, uint32_t leaf,
		    enum report_by by)
{
	uint32_t node = leaf, sum;
	char name[LONGEST];

	if (by == REPORT_BY_KERNEL) {
		snprintf(name, sizeof(name), "%s", stacks->nodes[leaf].name);
	} else {
		/* Stream and GPU are between it and the kernel. */
		for (int i = 0; i < 3; i++)
			node = stacks->nodes[node].parent;
		name_of(stacks, node, by, name, sizeof(name));
	}
	sum = stacks__child(sums, 0, stacks->nodes[node].missing ? "missing" : "found");
	if (sum != UINT32_MAX)
		sum = stacks__child(sums, sum, name);
	if (sum != UINT32_MAX)
		sum = stacks__child(sums, sum,
				    stacks->nodes[node].module ? stacks->nodes[node].module : "");
	if (sum == UINT32_MAX)
		return -ENOMEM;
	sums->nodes[sum].leaf = true;
	stacks__add(sums, sum, stacks->nodes[leaf].ns, stacks->nodes[leaf].count);
	return 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct by_row *a = left, *b = right;

	if (a->missing != b->missing)
		return a->missing - b->missing;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* The tree's texts become the rows'. */
static int collect_rows(struct by_rows *rows, struct stacks *sums)
{
	rows->list = calloc(sums->count, sizeof(*rows->list));
	if (!rows->list)
		return -ENOMEM;
	for (size_t i = 1; i < sums->count; i++) {
		const struct stacks_node *node = &sums->nodes[i], *name;
		struct by_row *row = &rows->list[rows->count];

		if (!node->leaf)
			continue;
		name = &sums->nodes[node->parent];
		*row = (struct by_row){
			.name = strdup(name->name),
			.file = strdup(node->name),
			.ns = node->ns,
			.count = node->count,
			.missing = !strcmp(sums->nodes[name->parent].name, "missing"),
		};
		rows->count++;
		if (!row->name || !row->file)
			return -ENOMEM;
	}
	qsort(rows->list, rows->count, sizeof(*rows->list), compare_rows);
	return 0;
}

void by_rows__free(struct by_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->list[i].name);
		free(rows->list[i].file);
	}
	free(rows->list);
	*rows = (struct by_rows){0};
}

int by_rows__read(struct by_rows *rows, const struct report_file *file, struct pattern *kernels)
{
	struct stacks stacks, sums = {0};
	int err = stacks__read(&stacks, file);

	*rows = (struct by_rows){0};
	if (err)
		return err;
	rows->period = stacks.period;
	if (stacks.samples) {
		stacks__free(&stacks);
		fprintf(stderr, "cuda-trace report: --by needs kernels, but this file has samples: "
				"use --stalls\n");
		return -ENOTSUP;
	}
	if (stacks__child(&sums, 0, "all") == UINT32_MAX)
		err = -ENOMEM;
	for (size_t i = 1; i < stacks.count && !err; i++)
		if (stacks.nodes[i].leaf &&
		    (!kernels || pattern__matches(kernels, stacks.nodes[i].name)))
			err = add_leaf(&stacks, &sums, i, file->by);
	if (!err)
		err = collect_rows(rows, &sums);
	stacks__free(&sums);
	stacks__free(&stacks);
	if (err)
		by_rows__free(rows);
	return err;
}

static int put_rows(const struct report_file *file, const struct by_rows *rows)
{
	sqlite3_stmt *statement = NULL;
	int err = 0;

	if (sqlite3_exec(file->db,
			 "DROP TABLE IF EXISTS temp.by_sums; CREATE TEMP TABLE by_sums (missing "
			 "INTEGER, ns INTEGER, count INTEGER, name TEXT, file TEXT)",
			 NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(file->db, "INSERT INTO temp.by_sums VALUES (?,?,?,?,?)", -1,
			       &statement, NULL))
		return report_file__complain(file);
	for (size_t i = 0; i < rows->count && !err; i++) {
		const struct by_row *row = &rows->list[i];

		sqlite3_bind_int(statement, 1, row->missing);
		sqlite3_bind_int64(statement, 2, row->ns);
		sqlite3_bind_int64(statement, 3, row->count);
		sqlite3_bind_text(statement, 4, row->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 5, row->file, -1, SQLITE_STATIC);
		if (sqlite3_step(statement) != SQLITE_DONE)
			err = report_file__complain(file);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return err;
}

static int write_rows(const struct report_file *file, FILE *out, enum report_format format,
		      int64_t limit)
{
	const char *by = export_origins__name(file->by);
	char sql[640], title[64], key[32];
	sqlite3_stmt *statement = NULL;
	int err = 0;

	snprintf(title, sizeof(title), "GPU time of kernels, by %s", by);
	snprintf(key, sizeof(key), "by_%s", by);
	snprintf(sql, sizeof(sql),
		 "SELECT time_pct, ns AS total_ns, count AS kernels, "
		 "CASE WHEN count > 0 THEN ns / count END AS mean_ns, %s name AS %s FROM (SELECT "
		 "*, round(100.0 * ns / nullif(sum(ns) OVER (), 0), 2) AS time_pct, "
		 "row_number() OVER (PARTITION BY missing ORDER BY ns DESC, name) AS n "
		 "FROM temp.by_sums) WHERE missing OR %lld = 0 OR n <= %lld "
		 "ORDER BY missing, ns DESC, name",
		 file->by == REPORT_BY_LINE ? "nullif(file, '') AS file," : "", by,
		 (long long)limit, (long long)limit);
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL) ||
	    report_output__write(out, format, key, title, statement) < 0)
		err = report_file__complain(file);
	sqlite3_finalize(statement);
	return err;
}

/* What is not recorded by default may have happened all the same. */
static void say_how(const struct report_file *file, const struct by_rows *rows)
{
	if (file->by == REPORT_BY_RANGE && report_file__any(file, "NVTX_EVENTS") < 1)
		fprintf(stderr, "cuda-trace report: --by range: the recording has no NVTX ranges "
				"(cuda-trace record -e kernels,copies,nvtx -- PROGRAM)\n");
	else if (file->by != REPORT_BY_RANGE && file->by != REPORT_BY_KERNEL && !rows->period)
		fprintf(stderr,
			"cuda-trace report: --by %s: the recording has no call stacks "
			"(cuda-trace record -g -- PROGRAM)\n",
			export_origins__name(file->by));
}

int export_by(const struct report_file *file, FILE *out, enum report_format format, int64_t limit)
{
	struct by_rows rows;
	int err = by_rows__read(&rows, file, NULL);

	if (err)
		return err;
	say_how(file, &rows);
	err = put_rows(file, &rows);
	if (!err)
		err = write_rows(file, out, format, limit);
	by_rows__free(&rows);
	return err;
}
