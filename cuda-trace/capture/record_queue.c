// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/capture/record_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int record_queue__init(struct record_queue *queue, uint32_t size)
{
	*queue = (struct record_queue){.slots = calloc(size, sizeof(*queue->slots)), .size = size};
	return queue->slots ? 0 : -ENOMEM;
}

void record_queue__free(struct record_queue *queue)
{
	free(queue->slots);
	queue->slots = NULL;
}

bool record_queue__is_full(const struct record_queue *queue)
{
	return queue->count == queue->size;
}

static struct queued_record *slot(const struct record_queue *queue, uint32_t i)
{
	return &queue->slots[(queue->oldest + i) % queue->size];
}

void record_queue__put(struct record_queue *queue, struct process *process,
		       const struct cuda_record *record, uint64_t now)
{
	struct queued_record *queued = slot(queue, queue->count++);

	queued->process = process;
	queued->came = now;
	queued->group = process->group;
	memcpy(queued->record, record, record->size);
}

struct queued_record *record_queue__oldest(const struct record_queue *queue)
{
	return queue->count ? slot(queue, 0) : NULL;
}

struct queued_record *record_queue__remove(struct record_queue *queue)
{
	struct queued_record *queued = slot(queue, 0);

	queue->oldest = (queue->oldest + 1) % queue->size;
	queue->count--;
	return queued;
}

void record_queue__remove_all_of(struct record_queue *queue, const struct process *process,
				 void (*remove)(void *context, const struct queued_record *queued),
				 void *context)
{
	for (uint32_t i = 0; i < queue->count; i++) {
		struct queued_record *queued = slot(queue, i);

		if (queued->process != process)
			continue;
		remove(context, queued);
		queued->process = NULL;
	}
}
