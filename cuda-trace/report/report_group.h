/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two things that SQL alone does too slowly on millions of rows: grouping (SQLite sorts all rows
 * first) and the union of overlapping spans. Each reads a statement once and leaves a small
 * temporary table that the report's SQL then uses.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_GROUP_H
#define CUDA_TRACE_REPORT_REPORT_GROUP_H

#include <stddef.h>
#include "cuda-trace/base/key_index.h"
#include "cuda-trace/report/report_durations.h"
#include "cuda-trace/report/report_file.h"

#define GROUP_KEYS 5

struct group {
	int64_t keys[GROUP_KEYS];
	bool null[GROUP_KEYS];
	struct durations durations;
	int64_t bytes;
	uint64_t invalid; /* rows with impossible times: counted, not summed */
};

struct groups {
	int keys; /* how many columns stand before ns */
	char *names[GROUP_KEYS];
	size_t count;
	struct group **list;	/* in order of appearance */
	struct key_index index; /* by a hash of the keys */
};

/* The statement's columns: keys (integers), `ns`, and if wanted `bytes`. 0 or -errno. */
int groups__read(struct groups *groups, const struct report_file *file, const char *sql);
void groups__free(struct groups *groups);
/* What groups__make_table() read for temp.NAME; NULL if it was not made. The file's. */
const struct groups *groups__kept(const struct report_file *file, const char *name);
/* For report_file__close(). */
void groups__forget(struct report_file *file);

/* Into temp.NAME (keys, count, total_ns, mean_ns, p50_ns, p99_ns, min_ns, max_ns, stddev_ns, bytes,
 * invalid). */
int groups__make_table(const struct report_file *file, const char *name, const char *sql);

/*
 * Columns: globalPid, start, end, deviceId, copy or not → temp.NAME by GPU (device, spans, busy_ns,
 * copy_ns, gaps, longest_gap_ns, longest_gap_start_ns, window_ns, uuid).
 */
int spans__make_table(const struct report_file *file, const char *name, const char *sql);

#endif
