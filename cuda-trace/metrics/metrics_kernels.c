// SPDX-License-Identifier: BSD-2-Clause
/*
 * A bounded table of kernels by label set and name, ranked by decaying GPU time.
 */
#include "cuda-trace/metrics/metrics_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/metrics/metrics_series.h"
#include "cuda-trace/metrics/metrics_text.h"
#include "cuda-trace/base/text.h"

#define BUCKETS	       4096
#define MAX_TRACKED    8192 /* candidates; each is a name of at most NAME_COLUMNS characters */
#define NAME_COLUMNS   160
#define RANK_SECONDS   10
#define DECAY	       0.977 /* a rank halves in 5 minutes */
#define SLOT_MS	       5000  /* of the time of kernels */
#define CLEARLY_BETTER 1.25  /* so that two alike do not take turns */

struct kernel {
	struct series *series;
	char *name;
	char *labels; /* rendered; NULL = has no name in public */
	double rank;
	struct late_ns late;
	struct kernel_sums sums;
	struct kernel *next_in_bucket;
};

struct kernels {
	struct kernel *buckets[BUCKETS];
	unsigned int tracked;
	unsigned int named;
	unsigned int limit;
	time_t next_rank;
	uint32_t slot;
};

struct kernels *kernels__new(unsigned int limit)
{
	struct kernels *kernels = calloc(1, sizeof(*kernels));

	if (kernels)
		kernels->limit = limit;
	return kernels;
}

static struct kernel **bucket_of(struct kernels *kernels, const struct series *series,
				 const char *name)
{
	uint32_t hash = (uint32_t)((uintptr_t)series >> 6) * 2654435761u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &kernels->buckets[hash % BUCKETS];
}

static void kernel__free(struct kernel *kernel)
{
	free(kernel->labels);
	free(kernel->name);
	free(kernel);
}

static struct kernel *find_or_make(struct kernels *kernels, struct series *series, const char *name)
{
	struct kernel **bucket = bucket_of(kernels, series, name), *kernel;

	for (kernel = *bucket; kernel; kernel = kernel->next_in_bucket)
		if (kernel->series == series && !strcmp(kernel->name, name))
			return kernel;
	if (kernels->tracked >= MAX_TRACKED)
		return NULL;
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return NULL;
	kernel->series = series;
	kernel->name = strdup(name);
	if (!kernel->name) {
		free(kernel);
		return NULL;
	}
	kernel->next_in_bucket = *bucket;
	*bucket = kernel;
	kernels->tracked++;
	return kernel;
}

static void assign_name(struct kernels *kernels, struct kernel *kernel)
{
	struct timespec now;
	size_t size;
	FILE *file = open_memstream(&kernel->labels, &size);

	if (!file)
		return;
	fprintf(file, "%s,kernel=", kernel->series->text);
	metrics_text__write_label(file, kernel->name);
	if (fclose(file) || !kernel->labels)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	kernel->sums.created = now.tv_sec + now.tv_nsec / 1e9;
	kernel->sums.count = 0;
	kernel->sums.ns = 0;
	kernel->sums.joules = 0;
	kernels->named++;
}

void kernels__add(struct kernels *kernels, struct series *series, const char *name, uint64_t count,
		  uint64_t ns)
{
	char shown[4 * NAME_COLUMNS + 4];
	struct kernel *kernel = NULL;

	if (name)
		kernel = find_or_make(kernels, series,
				      text__show(shown, sizeof(shown), name, NAME_COLUMNS));
	if (kernel) {
		kernel->rank += ns;
		kernel->late.slots[kernels->slot % LATE_SLOTS] += (float)ns;
	}
	series->late.slots[kernels->slot % LATE_SLOTS] += (float)ns;
	/* Without a choice to make there is nothing to wait for. */
	if (kernel && !kernel->labels && kernels->named < kernels->limit)
		assign_name(kernels, kernel);
	if (kernel && kernel->labels) {
		kernel->sums.count += count;
		kernel->sums.ns += ns;
	} else {
		series->unnamed_count += count;
		series->unnamed_ns += ns;
	}
}

static void withdraw_name(struct kernels *kernels, struct kernel *kernel)
{
	free(kernel->labels);
	kernel->labels = NULL;
	kernels->named--;
}

/* The best without a name and the worst with one. */
static void find_extremes(struct kernels *kernels, struct kernel **best, struct kernel **worst)
{
	*best = *worst = NULL;
	for (int i = 0; i < BUCKETS; i++)
		for (struct kernel *kernel = kernels->buckets[i]; kernel;
		     kernel = kernel->next_in_bucket) {
			if (kernel->labels && (!*worst || kernel->rank < (*worst)->rank))
				*worst = kernel;
			if (!kernel->labels && (!*best || kernel->rank > (*best)->rank))
				*best = kernel;
		}
}

/* Candidates that have done nothing for a while are dropped in favour of new ones. */
static void decay(struct kernels *kernels)
{
	bool crowded = kernels->tracked > MAX_TRACKED / 2;

	for (int i = 0; i < BUCKETS; i++) {
		struct kernel **link = &kernels->buckets[i];

		while (*link) {
			struct kernel *kernel = *link;

			kernel->rank *= DECAY;
			if (crowded && !kernel->labels && kernel->rank < 1e6) {
				*link = kernel->next_in_bucket;
				kernels->tracked--;
				kernel__free(kernel);
			} else {
				link = &kernel->next_in_bucket;
			}
		}
	}
}

void kernels__rank(struct kernels *kernels)
{
	struct kernel *best, *worst;
	time_t now = time(NULL);

	if (kernels->named == kernels->limit && now < kernels->next_rank)
		return;
	if (now >= kernels->next_rank) {
		kernels->next_rank = now + RANK_SECONDS;
		decay(kernels);
	}
	for (unsigned int i = 0; i < kernels->limit; i++) {
		find_extremes(kernels, &best, &worst);
		if (!best || best->rank <= 0)
			return;
		if (kernels->named == kernels->limit) {
			if (!worst || best->rank < worst->rank * CLEARLY_BETTER)
				return;
			withdraw_name(kernels, worst);
		}
		assign_name(kernels, best);
	}
}

void kernels__forget(struct kernels *kernels, struct series *series)
{
	for (int i = 0; i < BUCKETS; i++) {
		struct kernel **link = &kernels->buckets[i];

		while (*link) {
			struct kernel *kernel = *link;

			if (kernel->series != series) {
				link = &kernel->next_in_bucket;
				continue;
			}
			*link = kernel->next_in_bucket;
			kernels->tracked--;
			kernels->named -= kernel->labels != NULL;
			kernel__free(kernel);
		}
	}
}

void kernels__each(struct kernels *kernels,
		   void (*each)(void *context, const char *labels, const struct kernel_sums *sums),
		   void *context)
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct kernel *kernel = kernels->buckets[i]; kernel;
		     kernel = kernel->next_in_bucket)
			if (kernel->labels)
				each(context, kernel->labels, &kernel->sums);
}

/* Energy comes some 11 s after the work, the time of kernels within 7 s, both 5 s later if nobody
 * scrapes. */
static double weight_of(const struct late_ns *late)
{
	double sum = 0;

	for (int i = 0; i < LATE_SLOTS; i++)
		sum += (double)late->slots[i];
	return sum;
}

static void divide_kernel(struct kernel *kernel)
{
	struct series *series = kernel->series;
	double all = weight_of(&series->late), joules;

	if (!kernel->labels || all <= 0)
		return;
	joules = series->kernel_joules * weight_of(&kernel->late) / all;
	kernel->sums.joules += joules;
	series->named_joules += joules;
}

static void divide_rest(void *context, struct series *series)
{
	if (series->kernel_joules > series->named_joules)
		series->unnamed_joules += series->kernel_joules - series->named_joules;
	series->kernel_joules = series->named_joules = 0;
}

static void clear_slot(void *context, struct series *series)
{
	series->late.slots[((const struct kernels *)context)->slot % LATE_SLOTS] = 0;
}

static void advance(struct kernels *kernels, struct series_table *table)
{
	uint32_t now = (uint32_t)(monotonic__ms() / SLOT_MS);

	if (now - kernels->slot > LATE_SLOTS)
		kernels->slot = now - LATE_SLOTS;
	while (kernels->slot != now) {
		kernels->slot++;
		for (int i = 0; i < BUCKETS; i++)
			for (struct kernel *kernel = kernels->buckets[i]; kernel;
			     kernel = kernel->next_in_bucket)
				kernel->late.slots[kernels->slot % LATE_SLOTS] = 0;
		series_table__each(table, clear_slot, kernels);
	}
}

void kernels__divide(struct kernels *kernels, struct series_table *table)
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct kernel *kernel = kernels->buckets[i]; kernel;
		     kernel = kernel->next_in_bucket)
			divide_kernel(kernel);
	series_table__each(table, divide_rest, NULL);
	advance(kernels, table);
}

void kernels__free(struct kernels *kernels)
{
	if (!kernels)
		return;
	for (int i = 0; i < BUCKETS; i++)
		while (kernels->buckets[i]) {
			struct kernel *kernel = kernels->buckets[i];

			kernels->buckets[i] = kernel->next_in_bucket;
			kernel__free(kernel);
		}
	free(kernels);
}
