// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hash table of label sets with a limit. Called under the exporter's lock.
 */
#include "cuda-trace/metrics/metrics_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/live/live.h"
#include "cuda-trace/metrics/metrics_text.h"

#define BUCKETS 1024

struct series_table {
	struct series *buckets[BUCKETS];
	struct series *other;
	unsigned int count;
	unsigned int limit;
	uint64_t evicted;
	uint64_t folded;
	void (*dropped)(void *context, struct series *series);
	void *context;
};

static double now_unix(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* FNV-1a: short, and the table is bounded whatever a program calls itself. */
static unsigned int bucket_of(const struct series_labels *labels)
{
	const unsigned char *bytes = (const unsigned char *)labels;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < sizeof(*labels); i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash % BUCKETS;
}

char *series_labels__text(const struct series_labels *labels)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fputs("comm=", file);
	metrics_text__write_label(file, labels->comm);
	if (labels->device != LIVE_NO_DEVICE)
		fprintf(file, ",device=\"%u\"", labels->device);
	if (*labels->container) {
		fputs(",container_id=", file);
		metrics_text__write_label(file, labels->container);
	}
	if (*labels->cgroup) {
		fputs(",cgroup=", file);
		metrics_text__write_label(file, labels->cgroup);
	}
	for (int name = 0; name < ORIGIN_NAME_COUNT; name++) {
		const char *value = origin__name(&labels->origin, name);

		if (!*value)
			continue;
		fprintf(file, ",%s=", origin__key(name));
		metrics_text__write_label(file, value);
	}
	if (labels->rank >= 0)
		fprintf(file, ",rank=\"%d\"", labels->rank);
	if (labels->source == EVENT_SOURCE_DRIVER)
		fputs(",source=\"driver\"", file);
	if (labels->pid)
		fprintf(file, ",pid=\"%u\"", labels->pid);
	return fclose(file) ? NULL : text;
}

static struct series *series__new(const struct series_labels *labels)
{
	struct series *series = calloc(1, sizeof(*series));

	if (!series)
		return NULL;
	series->labels = *labels;
	series->text = series_labels__text(labels);
	series->created = now_unix();
	series->idle_since = time(NULL);
	if (series->text)
		return series;
	free(series);
	return NULL;
}

static void series__free(struct series *series)
{
	if (series)
		free(series->text);
	free(series);
}

static const struct series_labels other_labels = {
	.device = LIVE_NO_DEVICE,
	.rank = -1,
	.comm = "other",
};

struct series_table *series_table__new(unsigned int limit,
				       void (*dropped)(void *context, struct series *series),
				       void *context)
{
	struct series_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->limit = limit;
	table->dropped = dropped;
	table->context = context;
	table->other = series__new(&other_labels);
	if (table->other)
		return table;
	free(table);
	return NULL;
}

void series_table__each(struct series_table *table,
			void (*each)(void *context, struct series *series), void *context)
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct series *series = table->buckets[i]; series;
		     series = series->next_in_bucket)
			each(context, series);
	/* Shown only if it was needed. */
	if (table->folded)
		each(context, table->other);
}

static void drop(struct series_table *table, struct series *series)
{
	struct series **link = &table->buckets[bucket_of(&series->labels)];

	while (*link != series)
		link = &(*link)->next_in_bucket;
	*link = series->next_in_bucket;
	table->count--;
	if (table->dropped)
		table->dropped(table->context, series);
	series__free(series);
}

static struct series *longer_idle(struct series *longest, struct series *series)
{
	if (series->processes || (longest && longest->idle_since <= series->idle_since))
		return longest;
	return series;
}

static bool free_slot(struct series_table *table)
{
	struct series *longest = NULL;

	if (table->count < table->limit)
		return true;
	for (int i = 0; i < BUCKETS; i++)
		for (struct series *series = table->buckets[i]; series;
		     series = series->next_in_bucket)
			longest = longer_idle(longest, series);
	if (!longest)
		return false;
	drop(table, longest);
	table->evicted++;
	return true;
}

struct series *series_table__other(struct series_table *table)
{
	table->folded++;
	return table->other;
}

struct series *series_table__get(struct series_table *table, const struct series_labels *labels)
{
	unsigned int bucket = bucket_of(labels);
	struct series *series;

	/* A program may call itself so. */
	if (!memcmp(labels, &other_labels, sizeof(*labels)))
		return series_table__other(table);
	for (series = table->buckets[bucket]; series; series = series->next_in_bucket)
		if (!memcmp(&series->labels, labels, sizeof(*labels)))
			return series;
	series = free_slot(table) ? series__new(labels) : NULL;
	if (!series)
		return series_table__other(table);
	series->next_in_bucket = table->buckets[bucket];
	table->buckets[bucket] = series;
	table->count++;
	return series;
}

void series__hold(struct series *series)
{
	series->processes++;
	series->idle_since = 0;
}

void series__release(struct series *series)
{
	if (!--series->processes)
		series->idle_since = time(NULL);
}

void series_table__expire(struct series_table *table, unsigned int seconds)
{
	time_t before = time(NULL) - seconds;

	for (int i = 0; i < BUCKETS; i++) {
		struct series *next;

		for (struct series *series = table->buckets[i]; series; series = next) {
			next = series->next_in_bucket;
			if (!series->processes && series->idle_since && series->idle_since < before)
				drop(table, series);
		}
	}
}

unsigned int series_table__count(const struct series_table *table)
{
	return table->count + (table->folded != 0);
}

uint64_t series_table__evicted(const struct series_table *table)
{
	return table->evicted;
}

uint64_t series_table__folded(const struct series_table *table)
{
	return table->folded;
}

void series__add_error(struct series *series, int32_t code, uint8_t domain, uint64_t count)
{
	struct series_error *last = &series->errors[SERIES_ERRORS - 1];

	for (struct series_error *error = series->errors; error < last; error++) {
		if (!error->count) {
			error->code = code;
			error->domain = domain;
		}
		if (error->code == code && error->domain == domain) {
			error->count += count;
			return;
		}
	}
	last->domain = 0;
	last->count += count;
}

void series_table__free(struct series_table *table)
{
	if (!table)
		return;
	for (int i = 0; i < BUCKETS; i++)
		while (table->buckets[i])
			drop(table, table->buckets[i]);
	series__free(table->other);
	free(table);
}
