/* SPDX-License-Identifier: BSD-2-Clause */
/* What one request sends, and what became of all of them. */
#ifndef CUDA_TRACE_PUSH_PUSH_ITEM_H
#define CUDA_TRACE_PUSH_PUSH_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUSH_BODY_MAX	(16u << 20)
#define PUSH_MEMORY_MAX (16u << 20) /* of bodies that wait in memory */

struct push_item {
	struct push_item *next;
	uint64_t number;   /* in the order of their making */
	uint64_t profiles; /* 0 = metrics */
	uint64_t kernels;  /* in these */
	uint64_t samples;  /* likewise: PC samples */
	char *target;	   /* path and query, to be added to the URL of the receiver */
	char *type;	   /* the body's media type */
	bool zipped;	   /* Content-Encoding: gzip */
	bool on_disk;
	bool in_flight;
	uint8_t *body; /* NULL = it is on the disk */
	size_t size;
};

/* Takes the body over, also where it fails; NULL = no memory. */
struct push_item *push_item__new(const char *target, const char *type, uint8_t *body, size_t size);
void push_item__free(struct push_item *item);

/* Why profiles did not arrive. X(enumerator, key, text) */
#define PUSH_LOST_REASONS(X)                                                            \
	X(QUEUE_FULL, "queue_full", "the queue was full, and the oldest were dropped")  \
	X(DISK, "disk", "the queue's folder could not be written, and memory was full") \
	X(DAMAGED, "damaged", "files of the queue could not be read")                   \
	X(REJECTED, "rejected", "the receiver rejected them")                           \
	X(TOO_LARGE, "too_large", "they were larger than 16 MiB, or than the queue")    \
	X(MEMORY, "memory", "there was no memory")                                      \
	X(UNSENT, "unsent", "they were not sent until the end, and there is no --queue")

enum push_lost {
#define PUSH_LOST_ENUMERATOR(name, key, text) PUSH_LOST_##name,
	PUSH_LOST_REASONS(PUSH_LOST_ENUMERATOR)
#undef PUSH_LOST_ENUMERATOR
		PUSH_LOST_COUNT
};

/* produced + found = sent + queued + all that was lost. */
struct push_tally {
	uint64_t produced;
	uint64_t found; /* in the queue's folder, of an earlier run */
	uint64_t sent;
	uint64_t queued; /* at the end: they stay in the folder */
	uint64_t lost[PUSH_LOST_COUNT];
};

struct push_counts {
	struct push_tally profiles, kernels, samples;
	struct push_tally metrics; /* requests with metrics */
	uint64_t requests, failed; /* `failed` were repeated, or given up */
	uint64_t bytes;		   /* of bodies that arrived */
	uint64_t write_errors;	   /* of the queue's folder */
};

void push_counts__produced(struct push_counts *counts, const struct push_item *item);
void push_counts__found(struct push_counts *counts, const struct push_item *item);
/* `rejected` of its profiles did not get in, though the request succeeded. */
void push_counts__sent(struct push_counts *counts, const struct push_item *item, uint64_t rejected);
void push_counts__queued(struct push_counts *counts, const struct push_item *item);
void push_counts__lost(struct push_counts *counts, const struct push_item *item,
		       enum push_lost reason);

#endif
