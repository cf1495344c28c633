// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where an entry's code is. Linkers that drop a function leave its entry, with address 0 or 1: such
 * ranges are none, or they would cover the begin of every library.
 */
#include "cuda-trace/symbols/dwarf_unit.h"

#define MAX_RANGES 65536 /* of an entry */
#define DROPPED	   1	 /* and below */

struct taker {
	void (*take)(void *context, uint64_t begin, uint64_t end);
	void *context;
	uint32_t count; /* that were read */
};

static void hand_over(struct taker *taker, uint64_t begin, uint64_t end)
{
	if (begin > DROPPED && begin < end)
		taker->take(taker->context, begin, end);
}

/* .debug_ranges, before DWARF 5. */
static void read_pairs(const struct dwarf_unit *unit, uint64_t offset, struct taker *taker)
{
	struct dwarf_cursor at = dwarf_section__from(&unit->sections->ranges, offset);
	uint64_t base = unit->low_pc, begin, end;

	for (; taker->count < MAX_RANGES; taker->count++) {
		if (!dwarf_cursor__fixed(&at, 8, &begin) || !dwarf_cursor__fixed(&at, 8, &end) ||
		    (!begin && !end))
			return;
		if (begin == UINT64_MAX)
			base = end;
		else
			hand_over(taker, base + begin, base + end);
	}
}

/* DW_RLE_* */
enum range_kind {
	RANGES_END,
	RANGES_BASE_INDEX,
	RANGES_INDEXES,
	RANGES_INDEX_LENGTH,
	RANGES_OFFSETS,
	RANGES_BASE,
	RANGES_ADDRESSES,
	RANGES_ADDRESS_LENGTH,
};

/* An address by its index, in .debug_addr. */
static bool read_indexed(const struct dwarf_unit *unit, struct dwarf_cursor *at, uint64_t *address)
{
	struct dwarf_value value = {.kind = DWARF_ADDRESS_INDEX};

	return dwarf_cursor__unsigned(at, &value.number) &&
	       dwarf_unit__address(unit, &value, address);
}

/* One entry of a list; false: the list ends. */
static bool read_range(const struct dwarf_unit *unit, struct dwarf_cursor *at, uint64_t *base,
		       struct taker *taker)
{
	uint64_t begin = 0, end = 0;
	bool sound = true;

	if (at->at == at->end)
		return false;
	switch (dwarf_cursor__byte(at)) {
	case RANGES_BASE_INDEX:
		return read_indexed(unit, at, base);
	case RANGES_BASE:
		return dwarf_cursor__fixed(at, 8, base);
	case RANGES_INDEXES:
		sound = read_indexed(unit, at, &begin) && read_indexed(unit, at, &end);
		break;
	case RANGES_INDEX_LENGTH:
		sound = read_indexed(unit, at, &begin) && dwarf_cursor__unsigned(at, &end);
		end += begin;
		break;
	case RANGES_OFFSETS:
		sound = dwarf_cursor__unsigned(at, &begin) && dwarf_cursor__unsigned(at, &end);
		begin += *base;
		end += *base;
		break;
	case RANGES_ADDRESSES:
		sound = dwarf_cursor__fixed(at, 8, &begin) && dwarf_cursor__fixed(at, 8, &end);
		break;
	case RANGES_ADDRESS_LENGTH:
		sound = dwarf_cursor__fixed(at, 8, &begin) && dwarf_cursor__unsigned(at, &end);
		end += begin;
		break;
	default: /* RANGES_END too */
		return false;
	}
	if (sound)
		hand_over(taker, begin, end);
	return sound;
}

/* .debug_rnglists */
static void read_list(const struct dwarf_unit *unit, uint64_t offset, struct taker *taker)
{
	struct dwarf_cursor at = dwarf_section__from(&unit->sections->range_lists, offset);
	uint64_t base = unit->low_pc;

	for (; taker->count < MAX_RANGES; taker->count++)
		if (!read_range(unit, &at, &base, taker))
			return;
}

static void read_listed(const struct dwarf_unit *unit, const struct dwarf_value *value,
			struct taker *taker)
{
	const struct dwarf_section *section = &unit->sections->range_lists;
	uint64_t offset = value->number;
	struct dwarf_cursor at;

	if (unit->version < 5) {
		read_pairs(unit, offset, taker);
		return;
	}
	if (value->kind == DWARF_LIST_INDEX) {
		if (unit->list_base > section->size || offset > UINT32_MAX)
			return;
		at = dwarf_section__from(section,
					 unit->list_base + (uint64_t)unit->offset_size * offset);
		if (!dwarf_cursor__fixed(&at, unit->offset_size, &offset) || offset > section->size)
			return;
		offset += unit->list_base;
	}
	read_list(unit, offset, taker);
}

uint32_t dwarf_unit__ranges(const struct dwarf_unit *unit, const struct dwarf_entry *entry,
			    void (*take)(void *context, uint64_t begin, uint64_t end),
			    void *context)
{
	const struct dwarf_value *high = &entry->values[DWARF_HIGH_PC];
	const struct dwarf_value *ranges = &entry->values[DWARF_RANGES];
	struct taker taker = {take, context, 0};
	uint64_t begin, end;

	if (ranges->kind == DWARF_OFFSET || ranges->kind == DWARF_NUMBER ||
	    ranges->kind == DWARF_LIST_INDEX) {
		read_listed(unit, ranges, &taker);
		return taker.count;
	}
	if (!dwarf_unit__address(unit, &entry->values[DWARF_LOW_PC], &begin))
		return 0;
	if (high->kind == DWARF_NUMBER)
		hand_over(&taker, begin, begin + high->number);
	else if (dwarf_unit__address(unit, high, &end))
		hand_over(&taker, begin, end);
	return taker.count;
}
