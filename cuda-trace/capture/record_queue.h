/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of records that wait, in the order in which they came. Bounded. One thread.
 */
#ifndef CUDA_TRACE_CAPTURE_RECORD_QUEUE_H
#define CUDA_TRACE_CAPTURE_RECORD_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/capture/process.h"

#define RECORD_QUEUE_LARGEST 160 /* bytes of a record */

struct queued_record {
	struct process *process; /* NULL = removed already */
	uint64_t came;		 /* ns */
	uint32_t group;		 /* process->group, as it came */
	_Alignas(8) char record[RECORD_QUEUE_LARGEST];
};

struct record_queue {
	struct queued_record *slots; /* a ring */
	uint32_t size, oldest, count;
};

int record_queue__init(struct record_queue *queue, uint32_t size);
void record_queue__free(struct record_queue *queue);
bool record_queue__is_full(const struct record_queue *queue);
/* Not into a full one, and no larger record. */
void record_queue__put(struct record_queue *queue, struct process *process,
		       const struct cuda_record *record, uint64_t now);
/* The one that came first, or NULL. It may be removed already. */
struct queued_record *record_queue__oldest(const struct record_queue *queue);
/* Valid until the next one is put. */
struct queued_record *record_queue__remove(struct record_queue *queue);
/* Calls remove() with those of one process, and removes them. */
void record_queue__remove_all_of(struct record_queue *queue, const struct process *process,
				 void (*remove)(void *context, const struct queued_record *queued),
				 void *context);

#endif
