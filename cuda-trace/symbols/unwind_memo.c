// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/symbols/unwind_memo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/symbols/unwind.h"

#define ENTRIES	    256
#define ENTRY_BYTES 16384 /* larger ones are not kept */
#define VALID_NS    1000000000ull

struct entry {
	uint64_t made; /* ns */
	uint64_t address, stack_pointer, saved[UNWIND_SAVED];
	uint32_t bytes, used, reads;
	struct unwound *unwound;
	uint64_t *values;
	uint32_t *offsets;
	uint64_t space[]; /* those three */
};

struct unwind_memo {
	struct entry *entries[ENTRIES];
	uint64_t hits;
};

struct unwind_memo *unwind_memo__new(void)
{
	return calloc(1, sizeof(struct unwind_memo));
}

static uint32_t place_of(const struct event_stack_copy *copy)
{
	uint64_t hash = (copy->address ^ copy->stack_pointer << 1) * 0x9e3779b97f4a7c15ull;

	return hash >> 32 & (ENTRIES - 1);
}

static bool is_same(const struct entry *entry, const struct event_stack_copy *copy)
{
	if (entry->address != copy->address || entry->stack_pointer != copy->stack_pointer ||
	    entry->bytes != copy->bytes)
		return false;
	for (int i = 0; i < UNWIND_SAVED; i++)
		if (entry->used >> i & 1 && entry->saved[i] != copy->saved[i])
			return false;
	for (uint32_t i = 0; i < entry->reads; i++)
		if (memcmp(copy->stack + entry->offsets[i], &entry->values[i], sizeof(uint64_t)) !=
		    0)
			return false;
	return true;
}

const struct unwound *unwind_memo__find(struct unwind_memo *memo,
					const struct event_stack_copy *copy, uint64_t now)
{
	struct entry *entry = memo ? memo->entries[place_of(copy)] : NULL;

	if (!entry || now - entry->made > VALID_NS || !is_same(entry, copy))
		return NULL;
	memo->hits++;
	return entry->unwound;
}

void unwind_memo__add(struct unwind_memo *memo, const struct event_stack_copy *copy,
		      const struct unwind_trace *trace, const struct unwound *unwound, uint64_t now)
{
	size_t walk = (offsetof(struct unwound, addresses[unwound->count]) + 7) & ~7ul;
	size_t bytes = sizeof(struct entry) + walk + trace->count * sizeof(uint64_t) +
		       trace->count * sizeof(uint32_t);
	struct entry *entry, **place;

	if (!memo || trace->count == UNWIND_READS_MAX || bytes > ENTRY_BYTES)
		return;
	entry = calloc(1, bytes);
	if (!entry)
		return;
	entry->made = now;
	entry->address = copy->address;
	entry->stack_pointer = copy->stack_pointer;
	memcpy(entry->saved, copy->saved, sizeof(entry->saved));
	entry->bytes = copy->bytes;
	entry->used = trace->used;
	entry->reads = trace->count;
	entry->unwound = (void *)entry->space;
	entry->values = entry->space + walk / sizeof(uint64_t);
	entry->offsets = (uint32_t *)(entry->values + trace->count);
	memcpy(entry->unwound, unwound, offsetof(struct unwound, addresses[unwound->count]));
	memcpy(entry->values, trace->values, trace->count * sizeof(uint64_t));
	memcpy(entry->offsets, trace->offsets, trace->count * sizeof(uint32_t));
	place = &memo->entries[place_of(copy)];
	free(*place);
	*place = entry;
}

uint64_t unwind_memo__hits(const struct unwind_memo *memo)
{
	return memo->hits;
}

void unwind_memo__free(struct unwind_memo *memo)
{
	if (!memo)
		return;
	for (int i = 0; i < ENTRIES; i++)
		free(memo->entries[i]);
	free(memo);
}
