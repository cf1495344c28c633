/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NVTX ranges of a file, by thread and time: which were open when a call began.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_RANGES_H
#define CUDA_TRACE_EXPORT_EXPORT_RANGES_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/report/report_file.h"

#define EXPORT_RANGES_DEPTH 64 /* how far outwards anybody looks */
#define NO_RANGE	    SIZE_MAX

/* What a range of NVTX_EVENTS AS t has beside its name, as columns: the name or number of its
 * category, its payload (a number, or JSON). The second is the table that the first needs. */
#define RANGE_DETAILS                                                                     \
	"coalesce(c.name, t.category), coalesce(t.jsonText, t.uint64Value, t.int64Value," \
	" t.doubleValue, t.uint32Value, t.int32Value, t.floatValue)"
#define RANGE_CATEGORIES                                                                     \
	" LEFT JOIN (SELECT globalTid >> 24 AS process, coalesce(domainId, 0) AS domain,"    \
	" category AS number, max(text) AS name FROM NVTX_EVENTS WHERE eventType = 33"       \
	" GROUP BY 1, 2, 3) AS c ON c.process = t.globalTid >> 24 AND c.number = t.category" \
	" AND c.domain = coalesce(t.domainId, 0) "

struct nvtx_range {
	int64_t global, start, end, name;
	size_t outer; /* the nearest one before that was open when this one began; NO_RANGE */
};

struct nvtx_ranges {
	struct nvtx_range *list;
	size_t count;
	uint64_t left_out; /* a file may have any number of rows */
};

/* Those of these event types ("59, 60"), sorted. 0 or -errno, printed. */
int export_ranges__read(struct nvtx_ranges *ranges, const struct report_file *file,
			const char *types);
/* The last range of the thread that began by then; it or one of its outer ones may be open. */
size_t export_ranges__at(const struct nvtx_ranges *ranges, int64_t global, int64_t time);
void export_ranges__free(struct nvtx_ranges *ranges);

#endif
