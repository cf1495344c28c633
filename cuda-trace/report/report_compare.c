// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernels are matched by name, copies by direction and size, calls and waits by kind. Whether the
 * durations of one differ is decided by the Mann-Whitney U test (they are skewed, with long tails,
 * so that a test of means would follow the outliers), two-sided, corrected for ties, and by Holm
 * for the number of lines that a table tests. A change is called one when p < 0.01 and the medians
 * differ by 1 % or more.
 */
#include "cuda-trace/report/report_compare.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/report/report_group.h"

#define SIGNIFICANT 0.01
#define RELEVANT    0.01

#define SIZE_CLASS                                                                             \
	"CASE WHEN bytes < 4096 THEN 0 WHEN bytes < 65536 THEN 1 WHEN bytes < 1048576 THEN 2 " \
	"WHEN bytes < 16777216 THEN 3 WHEN bytes < 268435456 THEN 4 ELSE 5 END"
#define MEMORY_NAME(key)                                                                 \
	"CASE " key " WHEN 0 THEN 'pageable' WHEN 1 THEN 'pinned' WHEN 2 THEN 'device' " \
	"WHEN 3 THEN 'array' WHEN 4 THEN 'managed' WHEN 5 THEN 'device static' "         \
	"WHEN 6 THEN 'managed static' ELSE 'unknown' END"

/* What is compared: `rows` as groups__read() wants them, `name` makes a line's of their keys. */
static const struct subject {
	const char *section, *needs, *key, *title, *column, *rows, *name;
} subjects[] = {
	{"kernels", "CUPTI_ACTIVITY_KIND_KERNEL", "compare", "Kernels that changed, old to new",
	 "kernel",
	 "SELECT demangledName AS name, end - start AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL",
	 "SELECT coalesce((SELECT value FROM StringIds WHERE id = ?1), '[string ' || ?1 || ']')"},
	{"copies", "CUPTI_ACTIVITY_KIND_MEMCPY", "compare_copies",
	 "Copies that changed, by direction and size", "copy",
	 "SELECT copyKind AS kind, srcKind AS source, dstKind AS target, " SIZE_CLASS
	 " AS size, end - start AS ns FROM CUPTI_ACTIVITY_KIND_MEMCPY",
	 "SELECT CASE ?1 WHEN 1 THEN 'host to device' WHEN 2 THEN 'device to host' "
	 "WHEN 8 THEN 'device to device' WHEN 9 THEN 'host to host' WHEN 10 THEN 'peer to peer' "
	 "WHEN 11 THEN 'unified, host to device' WHEN 12 THEN 'unified, device to host' "
	 "WHEN 13 THEN 'unified, device to device' ELSE 'kind ' || ?1 END || ', ' "
	 "|| " MEMORY_NAME("?2") " || ' to ' || " MEMORY_NAME(
		 "?3") " || CASE ?4 "
		       "WHEN 0 THEN ', below 4 KiB' WHEN 1 THEN ', 4 to 64 KiB' WHEN 2 THEN "
		       "', 64 KiB to 1 MiB' WHEN 3 THEN ', 1 to 16 MiB' WHEN 4 THEN ', 16 to 256 "
		       "MiB' "
		       "ELSE ', 256 MiB or more' END"},
	{"api", "CUPTI_ACTIVITY_KIND_RUNTIME", "compare_api", "Calls that changed", "call",
	 "SELECT nameId AS name, end - start AS ns FROM CUPTI_ACTIVITY_KIND_RUNTIME",
	 "SELECT coalesce((SELECT value FROM StringIds WHERE id = ?1), '[string ' || ?1 || ']')"},
	{"sync", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "compare_sync", "Waits that changed",
	 "waited_for",
	 "SELECT syncType AS kind, end - start AS ns FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 "SELECT CASE ?1 WHEN 1 THEN 'event' WHEN 2 THEN 'stream waits for event' "
	 "WHEN 3 THEN 'stream' WHEN 4 THEN 'context or device' ELSE 'unknown' END"},
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

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

static char *name_of(const struct report_file *file, const struct subject *subject,
		     const struct groups *groups, const struct group *group)
{
	sqlite3_stmt *statement;
	char *text = NULL;

	if (sqlite3_prepare_v2(file->db, subject->name, -1, &statement, NULL))
		return NULL;
	for (int i = 0; i < groups->keys; i++)
		if (!group->null[i])
			sqlite3_bind_int64(statement, i + 1, group->keys[i]);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		text = strdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return text ? text : strdup("[unnamed]");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

/* Both files' kernels into one list, then equal names into one entry. */
static int match(struct pairs *pairs, const struct subject *subject,
		 const struct report_file *files[2])
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

			pair->name = name_of(files[side], subject, &pairs->groups[side], group);
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
			 "DROP TABLE IF EXISTS temp.compared; CREATE TEMP TABLE compared (verdict "
			 "TEXT, p REAL, old_count INTEGER, "
			 "old_total INTEGER, old_p50 INTEGER, new_count INTEGER, new_total INTEGER,"
			 " new_p50 INTEGER, superior REAL, name TEXT)",
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

static int show(const struct report_file *file, const struct subject *subject, FILE *out,
		enum report_format format, int64_t limit)
{
	char sql[1024];
	sqlite3_stmt *statement = NULL;
	int err = 0;

	snprintf(sql, sizeof(sql),
		 "SELECT verdict, round(100.0 * (new_p50 - old_p50) / old_p50, 2) AS "
		 "median_change_pct,"
		 " p, old_p50 AS old_p50_ns, new_p50 AS new_p50_ns, old_count, new_count,"
		 " coalesce(new_total, 0) - coalesce(old_total, 0) AS total_change_ns,"
		 " round(100 * superior, 1) AS slower_pairs_pct, name AS %s FROM temp.compared "
		 "ORDER BY abs(total_change_ns) DESC, name LIMIT ?",
		 subject->column);
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL) ||
	    sqlite3_bind_int64(statement, 1, limit ? limit : -1) ||
	    report_output__write(out, format, subject->key, subject->title, statement) < 0)
		err = report_file__complain(file);
	sqlite3_finalize(statement);
	return err;
}

static int compare(const struct subject *subject, const struct report_file *files[2], FILE *out,
		   enum report_format format, int64_t limit)
{
	struct pairs pairs = {0};
	int err = groups__read(&pairs.groups[0], files[0], subject->rows);

	if (!err)
		err = groups__read(&pairs.groups[1], files[1], subject->rows);
	if (!err)
		err = match(&pairs, subject, files);
	if (!err)
		err = test_all(&pairs);
	if (!err)
		err = fill(&pairs, files[1]);
	if (!err)
		err = show(files[1], subject, out, format, limit);
	for (size_t i = 0; i < pairs.count; i++)
		free(pairs.list[i].name);
	free(pairs.list);
	groups__free(&pairs.groups[0]);
	groups__free(&pairs.groups[1]);
	return err;
}

/* Only what both files can have: a comparison with nothing would call everything new. */
static int in_both(const struct subject *subject, const struct report_file *files[2])
{
	int any = 0;

	for (int i = 0; i < 2; i++) {
		int has = report_file__any(files[i], subject->needs);

		if (has < 0)
			return has;
		if (!report_file__has(files[i], subject->needs, NULL))
			return 0;
		any |= has;
	}
	return any;
}

int report_compare__write(const struct report_file *before, const struct report_file *after,
			  const struct report_compare_options *options, FILE *out)
{
	const struct report_file *files[2] = {before, after};
	int err = 0, shown = 0;

	for (size_t i = 0; i < SUBJECTS && !err; i++) {
		bool wanted = options->wanted(options->context, subjects[i].section);

		if (!wanted)
			continue;
		/* Kernels are shown in any case, if only to say that there are none. */
		err = i ? in_both(&subjects[i], files) : 1;
		if (err <= 0)
			continue;
		if (shown++ && options->format != REPORT_JSON)
			putc('\n', out);
		err = compare(&subjects[i], files, out, options->format, options->limit);
	}
	if (!err && options->format == REPORT_TEXT)
		fputs("\np: Mann-Whitney U test of the durations, Holm-corrected for the number of "
		      "lines of its table;\nslower or faster: p < 0.01 and medians at least 1 % "
		      "apart; too few: fewer than 8 on a side\n",
		      out);
	return err;
}
