// SPDX-License-Identifier: BSD-2-Clause
/* Running report/NAME.sql. */
#include "cuda-trace/report/report_sections.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "embedded/reports.h"
#include "cuda-trace/report/report_group.h"

#define REPORTS (sizeof(embedded_reports) / sizeof(embedded_reports[0]))

const char *sections__name(size_t n)
{
	return n < REPORTS ? embedded_reports[n].name : NULL;
}

static const char *text_of(const char *name)
{
	for (size_t i = 0; i < REPORTS; i++)
		if (!strcmp(embedded_reports[i].name, name))
			return embedded_reports[i].text;
	return NULL;
}

/* What stands behind "-- KEY: " on the line at `at`; NULL if the line is another. */
static char *directive(const char *at, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(at, "-- ", 3) || strncmp(at + 3, key, n) || at[3 + n] != ':')
		return NULL;
	at += 3 + n + 1;
	at += *at == ' ';
	return strndup(at, strcspn(at, "\n"));
}

static const char *next_line(const char *at)
{
	at = strchrnul(at, '\n');
	return *at ? at + 1 : at;
}

static char *find_directive(const char *text, const char *key)
{
	for (; *text; text = next_line(text)) {
		char *value = directive(text, key);

		if (value)
			return value;
	}
	return NULL;
}

/* The first table that the report needs and the file lacks; to be freed. */
static char *lacking(const struct report_file *file, const char *text)
{
	char *needs = find_directive(text, "Needs"), *found = NULL, *rest = needs, *table;

	while (!found && (table = strsep(&rest, " ")))
		if (*table && !report_file__has(file, table, NULL))
			found = strdup(table);
	free(needs);
	return found;
}

/* A section's statement: up to its ';', without that. */
static char *statement_at(const char *at)
{
	return strndup(at, strcspn(at, ";"));
}

static bool is_made(const struct report_file *file, const char *table)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT 1 FROM sqlite_temp_master WHERE name = '%.100s'", table);
	return report_file__number(file, sql, 0) == 1;
}

/* The tables that a foreign or older file lacks are empty ones to the SQL. */
static void add_missing_tables(const struct report_file *file)
{
	static const char *const tables[] = {
		"CUPTI_ACTIVITY_KIND_MEMCPY",
		"CUPTI_ACTIVITY_KIND_MEMSET",
		"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		"CUPTI_ACTIVITY_KIND_KERNEL",
	};
	char sql[256];

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (report_file__has(file, tables[i], NULL))
			continue;
		snprintf(sql, sizeof(sql),
			 "CREATE TEMP TABLE %s (globalPid INTEGER, start INTEGER, end INTEGER, "
			 "deviceId INTEGER, copyKind INTEGER)",
			 tables[i]);
		sqlite3_exec(file->db, sql, NULL, NULL, NULL);
	}
	if (!report_file__has(file, "CUDA_TRACE_ORIGINS", NULL))
		sqlite3_exec(
			file->db,
			"CREATE TEMP TABLE CUDA_TRACE_ORIGINS (globalPid, instance, container, "
			"k8s_namespace_name, k8s_pod_name, k8s_container_name, "
			"container_name, slurm_job_id, slurm_step_id, systemd_unit)",
			NULL, NULL, NULL);
}

/* What is not recorded by default may have happened all the same. */
static void say_empty(const char *name, const char *text)
{
	char *how = find_directive(text, "Recorded");

	if (how)
		fprintf(stderr, "cuda-trace report: --%s is empty: %s\n", name, how);
	free(how);
}

static void say_sampled(const struct report_file *file, const char *name, const char *text)
{
	char *sampled = find_directive(text, "Sampled");
	int64_t share;

	if (sampled && report_file__is_sample(file)) {
		share = report_file__number(file,
					    "SELECT 10000 * sum(openNs) / max(sum(watchedNs), 1) "
					    "FROM CUDA_TRACE_SAMPLES",
					    0);
		fprintf(stderr,
			"cuda-trace report: --%s has what was in windows of --sample, %.2f%% of "
			"the time; the summary (no option) has estimates\n",
			name, share / 100.0);
	}
	free(sampled);
}

static int run_table(const struct report_file *file, const char *name, const char *text,
		     const char *sql, FILE *out, enum report_format format, int64_t limit)
{
	char *title = find_directive(text, "Title"), *limited = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t rows = 0;
	int err = 0;

	if (limit && asprintf(&limited, "SELECT * FROM (%s) LIMIT %lld", sql, (long long)limit) < 0)
		err = -ENOMEM;
	if (!err && sqlite3_prepare_v2(file->db, limit ? limited : sql, -1, &statement, NULL))
		err = report_file__complain(file);
	if (!err)
		rows = report_output__write(out, format, name, title, statement);
	if (rows < 0)
		err = report_file__complain(file);
	else if (!err && !rows)
		say_empty(name, text);
	else if (!err)
		say_sampled(file, name, text);
	sqlite3_finalize(statement);
	free(limited);
	free(title);
	return err;
}

static int run_sections(const struct report_file *file, const char *name, const char *text,
			FILE *out, enum report_format format, int64_t limit)
{
	int err = 0;

	for (const char *at = text; *at && !err; at = next_line(at)) {
		char *group = directive(at, "Group"), *spans = directive(at, "Spans");
		char *table = directive(at, "Table");
		char *sql = group || spans || table ? statement_at(next_line(at)) : NULL;

		if (group && !is_made(file, group))
			err = groups__make_table(file, group, sql);
		else if (spans && !is_made(file, spans))
			err = spans__make_table(file, spans, sql);
		else if (table)
			err = run_table(file, name, text, sql, out, format, limit);
		free(group);
		free(spans);
		free(table);
		free(sql);
	}
	return err;
}

int sections__report(const struct report_file *file, const char *name, FILE *out,
		     enum report_format format, int64_t limit)
{
	const char *text = text_of(name);
	char *missing;

	if (!text)
		return -ENOENT;
	missing = lacking(file, text);
	if (missing) {
		fprintf(stderr, "cuda-trace: no report of %s: the file has no table %s\n", name,
			missing);
		free(missing);
		return 0;
	}
	add_missing_tables(file);
	return run_sections(file, name, text, out, format, limit);
}

bool sections__any(const struct report_file *file, const char *name)
{
	const char *text = text_of(name);
	char *needs = text ? find_directive(text, "Needs") : NULL, *rest = needs, *table;
	bool any = needs != NULL;

	/* A table that cannot be read is one to report on: that then says so. */
	while (any && (table = strsep(&rest, " ")))
		any = report_file__any(file, table);
	free(needs);
	return any;
}
