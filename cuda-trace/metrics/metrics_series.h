/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The label sets that metrics shows, and what was summed under each. Bounded: a set that does not
 * fit takes the place of one whose processes are all gone, or else is counted under comm="other".
 * Used under the exporter's lock.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_SERIES_H
#define CUDA_TRACE_METRICS_METRICS_SERIES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "cuda-trace/metrics/metrics_failed.h"
#include "cuda-trace/live/live_sums.h"
#include "cuda-trace/origin/origin.h"

#define SERIES_ERRORS 16 /* result codes that one label set distinguishes */

/* Texts are escaped for terminals already, so that what looks alike is the same set. Every byte
 * counts in the comparison: zero the structure before filling it. */
struct series_labels {
	uint32_t device; /* LIVE_NO_DEVICE: no such label */
	uint32_t pid;	 /* 0: no such label */
	uint32_t source; /* enum event_source; the agent's is no label */
	int32_t rank;	 /* -1: no such label */
	char comm[72];
	char container[16];
	char cgroup[400]; /* "" where there is a container, whose path says nothing more */
	struct origin origin;
};

/* comm="python3",device="0" … escaped, without braces; to be freed, or NULL. */
char *series_labels__text(const struct series_labels *labels);

struct series_error {
	int32_t code;
	uint8_t domain; /* enum cuda_domain; 0 = all beyond the limit */
	uint64_t count;
};

/* Time of kernels, as it came in the last seconds, for their part of energy that comes later. */
#define LATE_SLOTS 4
struct late_ns {
	float slots[LATE_SLOTS];
};

struct series {
	struct series_labels labels;
	char *text;		/* device="0",comm="python3" … escaped, without braces */
	double created;		/* Unix seconds */
	time_t idle_since;	/* 0: a process of it lives */
	unsigned int processes; /* that live */
	struct sums sums;
	double share_ns;      /* of the time in which the GPU was busy */
	double joules;	      /* --energy */
	double kernel_joules; /* of them those that are not divided among kernels yet */
	double named_joules;  /* of these those that kernels with a name got */
	struct late_ns late;  /* of all of its kernels */
	double unnamed_joules;
	double kernel_variance; /* of the estimated GPU time, ns²; 0 = it is exact */
	struct series_error errors[SERIES_ERRORS];
	struct failed_calls failed;
	uint64_t unnamed_count; /* kernels that metrics_kernels.c counts as "other" */
	uint64_t unnamed_ns;
	uint64_t live_bytes; /* of the processes that live; set anew by each collect */
	uint64_t peak_bytes;
	struct series *next_in_bucket;
};

struct series_table;

/* dropped() is called for a set that is about to go; may be NULL. */
struct series_table *series_table__new(unsigned int limit,
				       void (*dropped)(void *context, struct series *series),
				       void *context);
void series_table__free(struct series_table *table);
/* Never NULL. */
struct series *series_table__get(struct series_table *table, const struct series_labels *labels);
/* What is counted without labels of its own: comm="other". */
struct series *series_table__other(struct series_table *table);
/* One process more or less uses it. */
void series__hold(struct series *series);
void series__release(struct series *series);
/* Drops sets that nobody has used for so long. */
void series_table__expire(struct series_table *table, unsigned int seconds);
void series_table__each(struct series_table *table,
			void (*each)(void *context, struct series *series), void *context);
unsigned int series_table__count(const struct series_table *table);
/* Label sets that gave way to others, and lookups that ended at "other". */
uint64_t series_table__evicted(const struct series_table *table);
uint64_t series_table__folded(const struct series_table *table);

void series__add_error(struct series *series, int32_t code, uint8_t domain, uint64_t count);

#endif
