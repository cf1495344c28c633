// SPDX-License-Identifier: BSD-2-Clause
/* Grouping by hash. */
#include "cuda-trace/report/report_group.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/report/report_scan.h"
#include "cuda-trace/report/report_times.h"

static uint64_t hash_of(const struct group *group, int keys)
{
	uint64_t hash = 0;

	for (int i = 0; i < keys; i++)
		hash = (hash ^ (uint64_t)group->keys[i] ^ group->null[i]) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static bool same(const struct group *a, const struct group *b, int keys)
{
	return !memcmp(a->keys, b->keys, keys * sizeof(a->keys[0])) &&
	       !memcmp(a->null, b->null, keys * sizeof(a->null[0]));
}

static struct group *find_or_add(struct groups *groups, const struct group *key)
{
	uint64_t hash = hash_of(key, groups->keys);
	ssize_t known =
		key_index__match(&groups->index, hash, i, same(groups->list[i], key, groups->keys));
	struct group *group;

	if (known >= 0)
		return groups->list[known];
	if (!array_grow__counted(groups->list, groups->count))
		return NULL;
	group = malloc(sizeof(*group));
	if (!group || !key_index__add(&groups->index, hash, groups->count)) {
		free(group);
		return NULL;
	}
	*group = *key;
	groups->list[groups->count++] = group;
	return group;
}

struct kept_groups {
	struct kept_groups *next;
	char *name;
	struct groups groups;
};

static int add_row(void *context, int columns, sqlite3_value **values)
{
	struct groups *groups = context;
	struct group key, *group;
	int64_t ns;

	memset(&key, 0, sizeof(key));
	for (int i = 0; i < groups->keys; i++) {
		key.null[i] = sqlite3_value_type(values[i]) == SQLITE_NULL;
		key.keys[i] = sqlite3_value_int64(values[i]);
	}
	group = find_or_add(groups, &key);
	if (!group)
		return -ENOMEM;
	ns = sqlite3_value_int64(values[groups->keys]);
	if (!report_times__are_possible(0, ns)) {
		group->invalid++;
		return 0;
	}
	if (columns > groups->keys + 1)
		group->bytes = report_times__sum(group->bytes,
						 sqlite3_value_int64(values[groups->keys + 1]));
	return durations__add(&group->durations, ns);
}

static int name_keys(struct groups *groups, sqlite3_stmt *statement)
{
	int columns = sqlite3_column_count(statement);

	while (groups->keys < columns &&
	       strcmp(sqlite3_column_name(statement, groups->keys), "ns")) {
		if (groups->keys == GROUP_KEYS)
			return -EINVAL;
		groups->names[groups->keys] = strdup(sqlite3_column_name(statement, groups->keys));
		if (!groups->names[groups->keys++])
			return -ENOMEM;
	}
	return groups->keys < columns ? 0 : -EINVAL;
}

int groups__read(struct groups *groups, const struct report_file *file, const char *sql)
{
	sqlite3_stmt *statement;
	int err;

	memset(groups, 0, sizeof(*groups));
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	err = name_keys(groups, statement);
	sqlite3_finalize(statement);
	return err ? err : scan__run(file, sql, add_row, groups);
}

void groups__free(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		durations__free(&groups->list[i]->durations);
		free(groups->list[i]);
	}
	for (int i = 0; i < GROUP_KEYS; i++)
		free(groups->names[i]);
	free(groups->list);
	key_index__free(&groups->index);
	memset(groups, 0, sizeof(*groups));
}

static int insert(const struct groups *groups, const struct group *group, sqlite3_stmt *statement)
{
	const struct durations *d = &group->durations;
	int c = 1;

	for (int i = 0; i < groups->keys; i++, c++) {
		if (group->null[i])
			sqlite3_bind_null(statement, c);
		else
			sqlite3_bind_int64(statement, c, group->keys[i]);
	}
	sqlite3_bind_int64(statement, c++, d->count);
	sqlite3_bind_int64(statement, c++, d->sum);
	sqlite3_bind_int64(statement, c++, d->count ? d->sum / d->count : 0);
	sqlite3_bind_int64(statement, c++, durations__quantile(d, 0.5));
	sqlite3_bind_int64(statement, c++, durations__quantile(d, 0.99));
	sqlite3_bind_int64(statement, c++, d->least);
	sqlite3_bind_int64(statement, c++, d->greatest);
	sqlite3_bind_int64(statement, c++, durations__deviation(d) + 0.5);
	sqlite3_bind_int64(statement, c++, group->bytes);
	sqlite3_bind_int64(statement, c++, group->invalid);
	c = sqlite3_step(statement) == SQLITE_DONE ? 0 : -EIO;
	sqlite3_reset(statement);
	return c;
}

static int fill_table(const struct report_file *file, const struct groups *groups, const char *name)
{
	char create[512], put[512];
	sqlite3_stmt *statement;
	int n, p, err = 0;

	n = snprintf(create, sizeof(create), "CREATE TEMP TABLE \"%s\" (", name);
	p = snprintf(put, sizeof(put), "INSERT INTO temp.\"%s\" VALUES (?,?,?,?,?,?,?,?,?,?", name);
	for (int i = 0; i < groups->keys; i++) {
		n += snprintf(create + n, sizeof(create) - n, "\"%s\" INTEGER,", groups->names[i]);
		p += snprintf(put + p, sizeof(put) - p, ",?");
	}
	snprintf(create + n, sizeof(create) - n,
		 "count INTEGER, total_ns INTEGER, mean_ns INTEGER, p50_ns INTEGER, p99_ns INTEGER,"
		 "min_ns INTEGER, max_ns INTEGER, stddev_ns INTEGER, bytes INTEGER, invalid "
		 "INTEGER)");
	snprintf(put + p, sizeof(put) - p, ")");
	if (sqlite3_exec(file->db, create, NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(file->db, put, -1, &statement, NULL))
		return report_file__complain(file);
	for (size_t i = 0; !err && i < groups->count; i++)
		err = insert(groups, groups->list[i], statement);
	if (err)
		report_file__complain(file);
	sqlite3_finalize(statement);
	return err;
}

int groups__make_table(const struct report_file *file, const char *name, const char *sql)
{
	struct kept_groups *kept = calloc(1, sizeof(*kept));
	int err;

	if (!kept)
		return -ENOMEM;
	kept->next = *file->kept;
	*file->kept = kept;
	err = groups__read(&kept->groups, file, sql);
	kept->name = err ? NULL : strdup(name);
	return err ? err : fill_table(file, &kept->groups, name);
}

const struct groups *groups__kept(const struct report_file *file, const char *name)
{
	for (const struct kept_groups *kept = *file->kept; kept; kept = kept->next)
		if (kept->name && !strcmp(kept->name, name))
			return &kept->groups;
	return NULL;
}

void groups__forget(struct report_file *file)
{
	for (struct kept_groups *kept = file->kept ? *file->kept : NULL, *next; kept; kept = next) {
		next = kept->next;
		groups__free(&kept->groups);
		free(kept->name);
		free(kept);
	}
	free(file->kept);
	file->kept = NULL;
}
