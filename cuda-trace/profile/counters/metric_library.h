/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metrics that a libcupti knows for a GPU, read in a process of its own: NVIDIA's
 * libraries do not come into the tool, and what goes wrong there stays there.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_H
#define CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_H

#include <stddef.h>

#define METRIC_SETS 64

struct metric_row {
	const char *name, *type, *unit, *description;
	const char *rollups; /* ".sum .avg ...": of its type */
};

struct metric_library {
	char chip[32];
	char path[512];	     /* of the libcupti */
	unsigned int passes; /* 0 = the metrics cannot be collected together, or no request */
	size_t count;
	struct metric_row *rows;       /* by name */
	const char *sets[METRIC_SETS]; /* metrics separated by commas that one pass collects */
	size_t set_count;
	const char *alone[METRIC_SETS]; /* metrics that one pass does not collect */
	size_t alone_count;
	char *text; /* what all of these point into */
};

/*
 * chip: NULL = that of the first GPU. request: metrics separated by commas whose passes are
 * wanted, NULL = none. 0, or -1 with the reason in `why`.
 */
int metric_library__load(struct metric_library *library, const char *chip, const char *request,
			 char *why, size_t size);
/* The same for the first GPU, and which metrics go together into one pass. */
int metric_library__split(struct metric_library *library, const char *request, char *why,
			  size_t size);
void metric_library__free(struct metric_library *library);
/* The row of a metric with or without its rollup; NULL = it is not there. */
const struct metric_row *metric_library__find(const struct metric_library *library,
					      const char *metric);
/* False: there is no such rollup of it. */
int metric_library__has_rollup(const struct metric_row *row, const char *metric);

#endif
