/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What waits to be sent, oldest first: in files of a folder, of which the next run sends what is
 * left, or in memory. Bounded: the oldest are dropped, and counted. One thread.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_QUEUE_H
#define CUDA_TRACE_PUSH_PUSH_QUEUE_H

#include "cuda-trace/push/push_item.h"

struct push_queue;

/* folder NULL = in memory. 0 or -errno, printed. */
int push_queue__open(struct push_queue **queue, const char *folder, uint64_t max_bytes,
		     struct push_counts *counts);
/* Takes the item over. */
void push_queue__add(struct push_queue *queue, struct push_item *item);
/* The oldest, with its body, which is not dropped until push_queue__done(); NULL = it is empty. */
struct push_item *push_queue__first(struct push_queue *queue);
/* The oldest is to be sent again; or it was sent, or lost: it goes. */
void push_queue__retry(struct push_queue *queue);
void push_queue__done(struct push_queue *queue);
/* Counts what is left. */
void push_queue__close(struct push_queue *queue);

#endif
