/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that wait for others of the same correlation id in the same process. The table has a
 * fixed size, and memory that was never used is never touched. The tool's one thread.
 */
#ifndef CUDA_TRACE_CAPTURE_PENDING_H
#define CUDA_TRACE_CAPTURE_PENDING_H

#include <stddef.h>
#include <stdint.h>

struct process;

/* What an entry begins with. */
struct pending_entry {
	struct process *process;
	uint32_t correlation;
	struct pending_entry *next; /* with the same hash, newer ones first; or a free one */
	struct pending_entry *older, *newer; /* by age; NULL = none */
};

struct pending {
	struct pending_entry *oldest, *newest;
	/* The rest is pending.c's own. */
	struct pending_entry *free, **heads;
	char *entries;
	size_t size;
	uint32_t used, most;
};

/* `most`: a power of 2; size: of an entry. */
int pending__init(struct pending *pending, uint32_t most, size_t size);
void pending__free(struct pending *pending);
/* The newest one; NULL = there is none. */
void *pending__find(const struct pending *pending, const struct process *process,
		    uint32_t correlation);
/* The next older one of the same process and correlation id; NULL = none. */
void *pending__next(const void *entry);
/* NULL = the table is full: the oldest must go. What follows the struct pending_entry is undefined.
 */
void *pending__add(struct pending *pending, struct process *process, uint32_t correlation);
void pending__remove(struct pending *pending, void *entry);

#endif
