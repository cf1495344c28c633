/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 64-bit keys to small numbers, for rows that come in any order: a file may tell of tens of
 * thousands of processes.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_INDEX_H
#define CUDA_TRACE_REPORT_REPORT_INDEX_H

#include <stdint.h>
#include <sys/types.h>

struct report_file;

/* All zero is an empty one. */
struct report_index {
	int64_t *keys;
	uint32_t *numbers; /* + 1; 0 = a free place */
	size_t count, capacity;
};

/* The number of a key, or -ENOENT. */
ssize_t report_index__find(const struct report_index *index, int64_t key);
/* A key that is there already keeps its number. 0 or -ENOMEM. */
int report_index__add(struct report_index *index, int64_t key, uint32_t number);
/* The first row of each globalPid in a table, by rowid; `most` rows are looked at. 0, or -ENOMEM.
 */
int report_index__read(struct report_index *index, const struct report_file *file,
		       const char *table, uint32_t most);
void report_index__free(struct report_index *index);

#endif
