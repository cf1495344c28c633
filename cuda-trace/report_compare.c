// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernels are matched by name. Whether the durations of a kernel differ is decided by the
 * Mann-Whitney U test (they are skewed, with long tails, so that a test of means would follow the
 * outliers), two-sided, corrected for ties, and by Holm for the number of kernels tested. A change
 * is called one when p < 0.01 and the medians differ by 1 % or more.
 */
#include "cuda-trace/report_compare.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/report_group.h"

#define SIGNIFICANT 0.01
#define RELEVANT    0.01

struct pair {
	char *name;
	const struct durations *before, *after; /* NULL = not there */
	double p, superior;
};

struct pairs {
	struct groups groups[2];
	struct pair *list;
	size_t count;
};

static char *string_of(const struct report_file *file, int64_t id)
{
	sqlite3_stmt *statement;
	char *text = NULL;

	if (sqlite3_prepare_v2(file->db, "SELECT value FROM StringIds WHERE id = ?", -1, &statement,
			       NULL))
		return NULL;
	sqlite3_bind_int64(statement, 1, id);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		text = strdup((const char *)sqlite3_column_text(statement, 0));
	else if (asprintf(&text, "[string %lld]", (long long)id) < 0)
		text = NULL;
	sqlite3_finalize(statement);
	return text;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

/* Both files' kernels into one list, then equal names into one entry. */
static int match(struct pairs *pairs, const struct report_file *files[2])
{
	size_t to = 0;

	pairs->list =
		calloc(pairs->groups[0].count + pairs->groups[1].count + 1, sizeof(*pairs->list));
	if (!pairs->list)
		return -ENOMEM;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < pairs->groups[side].count; i++) {
			const struct group *group = pairs->groups[side].list[i];
			struct pair *pair = &pairs->list[pairs->count];

			pair->name = string_of(files[side], group->keys[0]);
			if (!pair->name)
				return -ENOMEM;
			*(side ? &pair->after : &pair->before) = &group->durations;
			pairs->count++;
		}
	}
	qsort(pairs->list, pairs->count, sizeof(*pairs->list), by_name);
	for (size_t i = 0; i < pairs->count; i++) {
		struct pair *last = to ? &pairs->list[to - 1] : NULL;
		struct pair *pair = &pairs->list[i];

		if (last && !strcmp(last->name, pair->name) && !(last->after && pair->after) &&
		    !(last->before && pair->before)) {
			last->before = pair->before ? pair->before : last->before;
			last->after = pair->after ? pair->after : last->after;
			free(pair->name);
		} else {
			pairs->list[to++] = *pair;
		}
	}
	pairs->count = to;
	return 0;
}

static int by_p(const void *a, const void *b)
{
	const struct pair *x = *(struct pair *const *)a, *y = *(struct pair *const *)b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Holm's step-down: the smallest p counts for as many tests as there were, and so on. */
static int test_all(struct pairs *pairs)
{
	struct pair **order = calloc(pairs->count + 1, sizeof(*order));
	size_t tests = 0;
	double least = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->list[i];

		pair->p = 1;
		pair->superior = 0.5;
		if (!pair->before || !pair->after)
			continue;
		pair->p = durations__compare(pair->before, pair->after, &pair->superior);
		order[tests++] = pair;
	}
	qsort(order, tests, sizeof(*order), by_p);
	for (size_t i = 0; i < tests; i++) {
		double p = order[i]->p * (tests - i);

		least = fmin(1, fmax(least, p));
		order[i]->p = least;
	}
	free(order);
	return 0;
}

static const char *verdict(const struct pair *pair)
{
	double change;

	if (!pair->before)
		return "new";
	if (!pair->after)
		return "gone";
	if (pair->before->count < 8 || pair->after->count < 8)
		return "too few";
	change = (double)durations__quantile(pair->after, 0.5) -
		 durations__quantile(pair->before, 0.5);
	if (pair->p >= SIGNIFICANT ||
	    fabs(change) < RELEVANT * durations__quantile(pair->before, 0.5))
		return "same";
	return change > 0 ? "slower" : "faster";
}

static void bind_side(sqlite3_stmt *statement, int column, const struct durations *side)
{
	if (!side)
		return;
	sqlite3_bind_int64(statement, column, side->count);
	sqlite3_bind_int64(statement, column + 1, side->sum);
	sqlite3_bind_int64(statement, column + 2, durations__quantile(side, 0.5));
}

static int fill(const struct pairs *pairs, const struct report_file *file)
{
	sqlite3_stmt *statement;
	int err = 0;

	if (sqlite3_exec(file->db,
			 "CREATE TEMP TABLE compared (verdict TEXT, p REAL, old_count INTEGER, "
			 "old_total INTEGER, old_p50 INTEGER, new_count INTEGER, new_total INTEGER,"
			 " new_p50 INTEGER, superior REAL, kernel TEXT)",
			 NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(file->db, "INSERT INTO compared VALUES (?,?,?,?,?,?,?,?,?,?)", -1,
			       &statement, NULL))
		return report_file__complain(file);
	for (size_t i = 0; !err && i < pairs->count; i++) {
		const struct pair *pair = &pairs->list[i];
		bool both = pair->before && pair->after;

		sqlite3_clear_bindings(statement);
		sqlite3_bind_text(statement, 1, verdict(pair), -1, SQLITE_STATIC);
		if (both)
			sqlite3_bind_double(statement, 2, pair->p);
		bind_side(statement, 3, pair->before);
		bind_side(statement, 6, pair->after);
		if (both)
			sqlite3_bind_double(statement, 9, pair->superior);
		sqlite3_bind_text(statement, 10, pair->name, -1, SQLITE_STATIC);
		if (sqlite3_step(statement) != SQLITE_DONE)
			err = report_file__complain(file);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return err;
}

static int show(const struct report_file *file, FILE *out, enum report_format format, int64_t limit)
{
	static const char sql[] =
		"SELECT verdict, round(100.0 * (new_p50 - old_p50) / old_p50, 2) AS "
		"median_change_pct,"
		" p, old_p50 AS old_p50_ns, new_p50 AS new_p50_ns, old_count, new_count,"
		" coalesce(new_total, 0) - coalesce(old_total, 0) AS total_change_ns,"
		" round(100 * superior, 1) AS slower_pairs_pct, kernel FROM temp.compared "
		"ORDER BY abs(total_change_ns) DESC, kernel LIMIT ?";
	sqlite3_stmt *statement;
	int err = 0;

	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	sqlite3_bind_int64(statement, 1, limit ? limit : -1);
	if (report_output__write(out, format, "compare", "Kernels that changed, old to new",
				 statement) < 0)
		err = report_file__complain(file);
	sqlite3_finalize(statement);
	if (!err && format == REPORT_TEXT)
		fputs("p: Mann-Whitney U test of the durations, Holm-corrected for the number of "
		      "kernels;\nslower or faster: p < 0.01 and medians at least 1 % apart; too "
		      "few: "
		      "fewer than 8 on a side\n",
		      out);
	return err;
}

int report_compare__write(const struct report_file *before, const struct report_file *after,
			  FILE *out, enum report_format format, int64_t limit)
{
	static const char sql[] =
		"SELECT demangledName AS name, end - start AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL";
	const struct report_file *files[2] = {before, after};
	struct pairs pairs = {0};
	int err = groups__read(&pairs.groups[0], before, sql);

	if (!err)
		err = groups__read(&pairs.groups[1], after, sql);
	if (!err)
		err = match(&pairs, files);
	if (!err)
		err = test_all(&pairs);
	if (!err)
		err = fill(&pairs, after);
	if (!err)
		err = show(after, out, format, limit);
	for (size_t i = 0; i < pairs.count; i++)
		free(pairs.list[i].name);
	free(pairs.list);
	groups__free(&pairs.groups[0]);
	groups__free(&pairs.groups[1]);
	return err;
}
