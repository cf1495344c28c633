// SPDX-License-Identifier: BSD-2-Clause
/* A chained hash table, and a list by age. */
#include "cuda-trace/capture/pending.h"

#include <stdlib.h>
#include "cuda-trace/capture/process.h"

int pending__init(struct pending *pending, uint32_t most, size_t size)
{
	*pending = (struct pending){.size = size, .most = most};
	pending->entries = malloc(most * size);
	pending->heads = calloc(most / 2, sizeof(struct pending_entry *));
	if (pending->entries && pending->heads)
		return 0;
	pending__free(pending);
	return -1;
}

void pending__free(struct pending *pending)
{
	free(pending->entries);
	free(pending->heads);
}

static struct pending_entry **head(const struct pending *pending, const struct process *process,
				   uint32_t correlation)
{
	uint32_t hash = (correlation + process->pid * 2654435761u) * 0x9e3779b1u;

	return &pending->heads[hash >> 16 & (pending->most / 2 - 1)];
}

static void *first_of(struct pending_entry *entry, const struct process *process,
		      uint32_t correlation)
{
	while (entry && (entry->correlation != correlation || entry->process != process))
		entry = entry->next;
	return entry;
}

void *pending__find(const struct pending *pending, const struct process *process,
		    uint32_t correlation)
{
	return first_of(*head(pending, process, correlation), process, correlation);
}

void *pending__next(const void *of)
{
	const struct pending_entry *entry = of;

	return first_of(entry->next, entry->process, entry->correlation);
}

void *pending__add(struct pending *pending, struct process *process, uint32_t correlation)
{
	struct pending_entry **link = head(pending, process, correlation), *entry = pending->free;

	if (entry)
		pending->free = entry->next;
	else if (pending->used < pending->most)
		entry = (void *)(pending->entries + pending->size * pending->used++);
	else
		return NULL;
	*entry = (struct pending_entry){process, correlation, *link, pending->newest, NULL};
	*link = entry;
	*(pending->newest ? &pending->newest->newer : &pending->oldest) = entry;
	pending->newest = entry;
	return entry;
}

void pending__remove(struct pending *pending, void *which)
{
	struct pending_entry *entry = which;
	struct pending_entry **link = head(pending, entry->process, entry->correlation);

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	*(entry->older ? &entry->older->newer : &pending->oldest) = entry->newer;
	*(entry->newer ? &entry->newer->older : &pending->newest) = entry->older;
	entry->next = pending->free;
	pending->free = entry;
}
