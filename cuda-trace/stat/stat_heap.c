// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address → bytes, in an open-addressing table that grows; a free shifts later entries back, so
 * that no tombstones gather in programs that allocate for days. Memory from before we looked is
 * unknown: its free is counted, and changes nothing else.
 */
#include "cuda-trace/stat/stat_heap.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

#define MAX_BLOCKS  262144u /* of one process; further ones are counted as untracked */

#define MAX_LINES   4096 /* of all processes */

#define EARLY_FREES 64

struct block {
	uint64_t address; /* 0 = free slot */
	uint64_t bytes;
	uint32_t line;
};

struct stat_heap {
	struct block *blocks;
	uint32_t used;
	uint32_t mask;
	struct stat_memory lines[STAT_MAX_MEMORY];
	uint32_t line_count;
	/* Frees that came before their allocation: batches of several threads interleave. */
	struct {
		uint64_t address;
		uint64_t time;
	} early[EARLY_FREES];
	uint32_t early_next;
	bool any_early;
};

struct stat_heap *stat_heap__new(void)
{
	return calloc(1, sizeof(struct stat_heap));
}

void stat_heap__free(struct stat_heap *heap)
{
	if (!heap)
		return;
	free(heap->blocks);
	free(heap);
}

static uint32_t place(const struct stat_heap *heap, uint64_t address)
{
	return (address * 0x9e3779b97f4a7c15ull) >> 40 & heap->mask;
}

static struct block *find(const struct stat_heap *heap, uint64_t address)
{
	uint32_t i = place(heap, address);

	while (heap->blocks[i].address && heap->blocks[i].address != address)
		i = (i + 1) & heap->mask;
	return &heap->blocks[i];
}

static bool make_space(struct stat_heap *heap)
{
	struct stat_heap larger = {.mask = heap->blocks ? heap->mask * 2 + 1 : 255};

	if (heap->blocks && heap->used * 2 <= heap->mask)
		return true;
	if (heap->used >= MAX_BLOCKS)
		return false;
	larger.blocks = calloc(larger.mask + 1, sizeof(*larger.blocks));
	if (!larger.blocks)
		return false;
	for (uint32_t i = 0; heap->blocks && i <= heap->mask; i++)
		if (heap->blocks[i].address)
			*find(&larger, heap->blocks[i].address) = heap->blocks[i];
	free(heap->blocks);
	heap->blocks = larger.blocks;
	heap->mask = larger.mask;
	return true;
}

static void remove_block(struct stat_heap *heap, struct block *block)
{
	uint32_t hole = block - heap->blocks, i = hole;

	for (;;) {
		uint32_t home;

		i = (i + 1) & heap->mask;
		if (!heap->blocks[i].address)
			break;
		home = place(heap, heap->blocks[i].address);
		/* May this entry stand in the hole, or is its home behind it? */
		if (((i - home) & heap->mask) < ((i - hole) & heap->mask))
			continue;
		heap->blocks[hole] = heap->blocks[i];
		hole = i;
	}
	heap->blocks[hole].address = 0;
	heap->used--;
}

static uint32_t line_of(struct stat_heap *heap, uint32_t device, uint8_t kind)
{
	for (uint32_t i = 0; i < heap->line_count; i++)
		if (heap->lines[i].device == device && heap->lines[i].kind == kind)
			return i;
	if (heap->line_count == STAT_MAX_MEMORY)
		return STAT_MAX_MEMORY - 1;
	heap->lines[heap->line_count] = (struct stat_memory){.device = device, .kind = kind};
	if (heap->line_count == STAT_MAX_MEMORY - 1)
		heap->lines[heap->line_count] =
			(struct stat_memory){.device = UINT32_MAX, .kind = STAT_KIND_OTHERS};
	return heap->line_count++;
}

static bool was_freed_already(struct stat_heap *heap, const struct cuda_memory *memory)
{
	for (int i = 0; heap->any_early && i < EARLY_FREES; i++) {
		if (heap->early[i].address != memory->address || heap->early[i].time < memory->time)
			continue;
		heap->early[i].address = 0;
		return true;
	}
	return false;
}

static bool release(struct stat_heap *heap, struct stat_events *events, uint64_t address)
{
	struct block *block = heap->blocks ? find(heap, address) : NULL;
	struct stat_memory *line;

	if (!block || !block->address)
		return false;
	line = &heap->lines[block->line];
	line->live_bytes -= block->bytes;
	line->live_count--;
	events->live_bytes -= block->bytes;
	remove_block(heap, block);
	return true;
}

static void hold(struct stat_heap *heap, struct stat_events *events, uint32_t line,
		 const struct cuda_memory *memory)
{
	struct stat_memory *sums = &heap->lines[line];

	/* The same address again without a free: that was lost, or never reported. */
	release(heap, events, memory->address);
	if (was_freed_already(heap, memory))
		return;
	if (!memory->address || !make_space(heap)) {
		events->untracked++;
		return;
	}
	*find(heap, memory->address) = (struct block){memory->address, memory->bytes, line};
	heap->used++;
	sums->live_bytes += memory->bytes;
	sums->live_count++;
	events->live_bytes += memory->bytes;
	if (sums->live_bytes > sums->peak_bytes)
		sums->peak_bytes = sums->live_bytes;
}

void stat_heap__record(struct stat_heap *heap, struct stat_events *events,
		       const struct cuda_memory *memory)
{
	uint32_t line;

	/* Module loads tell of static variables: nobody allocated those. */
	if (!heap || memory->kind >= 6 || (memory->operation != 1 && memory->operation != 2))
		return;
	line = line_of(heap, memory->device, memory->kind);
	if (memory->operation == 1) {
		events->allocs++;
		heap->lines[line].allocs++;
		heap->lines[line].bytes += memory->bytes;
		hold(heap, events, line, memory);
	} else {
		events->frees++;
		heap->lines[line].frees++;
		if (release(heap, events, memory->address))
			return;
		heap->early[heap->early_next].address = memory->address;
		heap->early[heap->early_next].time = memory->time;
		heap->early_next = (heap->early_next + 1) % EARLY_FREES;
		heap->any_early = true;
	}
}

static void add_to_others(struct stat_memory *others, const struct stat_memory *line)
{
	others->pid = 0;
	strcpy(others->comm, "[others]");
	others->device = UINT32_MAX;
	others->kind = STAT_KIND_OTHERS;
	others->allocs += line->allocs;
	others->frees += line->frees;
	others->bytes += line->bytes;
	others->live_bytes += line->live_bytes;
	others->peak_bytes += line->peak_bytes;
	others->live_count += line->live_count;
}

static struct stat_memory *next_line(struct stat_memory **lines, uint32_t *count)
{
	return array_grow__counted(*lines, *count) ? &(*lines)[(*count)++] : NULL;
}

void stat_heap__keep(const struct stat_heap *heap, const struct process *process,
		     struct stat_memory **lines, uint32_t *count)
{
	for (uint32_t i = 0; heap && i < heap->line_count; i++) {
		struct stat_memory *kept;

		if (*count == MAX_LINES) {
			add_to_others(&(*lines)[MAX_LINES - 1], &heap->lines[i]);
			continue;
		}
		kept = next_line(lines, count);
		if (!kept)
			return;
		*kept = heap->lines[i];
		kept->pid = process->pid;
		memcpy(kept->comm, process->comm, sizeof(kept->comm));
	}
}
