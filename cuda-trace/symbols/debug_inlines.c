// SPDX-License-Identifier: BSD-2-Clause
/*
 * One pass over the entries of units that have code at wanted addresses; functions without any are
 * skipped. An address belongs to the first function that claims it, and gets the inlined calls in
 * that one which contain it, from the outermost inwards. Names are looked up at the end of a unit.
 *
 * Failure modes: 1. entries refer to each other in circles, or to other units without end: a name
 * is followed through 16 entries. 2. entries are nested or repeated without end: there are limits
 * of depth and of entries, and the answer says which one was reached. 3. what is needed is in
 * another file (.dwo, dwz): nothing opens it; the address has its function and line as before, and
 * the answer says so.
 */
#include "cuda-trace/symbols/debug_inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/dwarf_unit.h"
#include "cuda-trace/symbols/wanted_addresses.h"

#define MAX_ENTRIES (1u << 24) /* of a file, and ranges */
#define MAX_LEVELS  512	       /* of entries in each other */
#define MAX_HOPS    16	       /* to a name */
#define MAX_NAME    4096

/* A call that was inlined. */
struct call {
	uint64_t entry, file, line;
};

/* What is known of a wanted address. */
struct place {
	uint64_t function; /* entry of the function that has claimed it; 0 = none */
	struct call *calls;
	uint32_t count, capacity;
	bool incomplete; /* nothing is said of it */
};

/* An entry whose children are read. */
struct level {
	uint64_t function;    /* 0 = it is in none */
	struct call unranged; /* itself, where nothing says which code it has; .entry 0 = not so */
	bool skipped;
};

struct reader {
	const struct wanted_addresses *wanted;
	struct place *places; /* of the addresses */
	struct foreign_output *output;
	struct debug_sections sections;
	uint64_t *units; /* offsets; they ascend */
	size_t unit_count, unit_capacity;
	struct dwarf_unit unit, other; /* the second is where names lead to */
	bool other_is_open;
	uint32_t entries_left, missing;
	struct level levels[MAX_LEVELS + 1]; /* [1]: the children of the unit's entry */
	size_t depth;
	size_t first, last; /* of the places that the unit has claimed */
};

/* A range of an entry is compared with the wanted addresses. */
struct search {
	struct reader *reader;
	const struct dwarf_entry *entry;
	uint64_t function; /* that the entry is in */
	bool any, has_code;
};

/* False: that was too much for one file. */
static bool charge(struct reader *reader, uint32_t entries)
{
	if (reader->entries_left <= entries) {
		reader->entries_left = 0;
		reader->missing |= DEBUG_INLINES_TOO_LARGE;
		return false;
	}
	reader->entries_left -= entries;
	return true;
}

static void find_any(void *context, uint64_t begin, uint64_t end)
{
	struct search *search = context;
	const struct wanted_addresses *wanted = search->reader->wanted;
	size_t i = wanted_addresses__first(wanted, begin);

	search->any = search->any || (i < wanted->count && wanted->list[i] < end);
}

static void claim(void *context, uint64_t begin, uint64_t end)
{
	struct search *search = context;
	struct reader *reader = search->reader;
	const struct wanted_addresses *wanted = reader->wanted;

	for (size_t i = wanted_addresses__first(wanted, begin);
	     i < wanted->count && wanted->list[i] < end; i++) {
		struct place *place = &reader->places[i];

		if (!charge(reader, 1))
			return;
		if (!place->function)
			place->function = search->entry->offset;
		if (place->function != search->entry->offset)
			continue;
		search->any = true;
		reader->first = i < reader->first ? i : reader->first;
		reader->last = i > reader->last ? i : reader->last;
	}
}

static uint64_t number_of(const struct dwarf_value *value)
{
	return value->kind == DWARF_NUMBER ? value->number : 0;
}

static struct call call_of(const struct dwarf_entry *entry)
{
	return (struct call){
		.entry = entry->offset,
		.file = number_of(&entry->values[DWARF_CALL_FILE]),
		.line = number_of(&entry->values[DWARF_CALL_LINE]),
	};
}

static void add_call(struct reader *reader, struct place *place, const struct call *call)
{
	/* Ranges of one entry may overlap; those further in come later. */
	if (place->count && place->calls[place->count - 1].entry >= call->entry)
		return;
	if (place->count == DEBUG_INLINES_DEPTH)
		reader->missing |= DEBUG_INLINES_TOO_DEEP;
	if (place->count == DEBUG_INLINES_DEPTH ||
	    !array_grow__for_one(place->calls, place->capacity, place->count)) {
		place->incomplete = true;
		return;
	}
	place->calls[place->count++] = *call;
}

static void add_calls(void *context, uint64_t begin, uint64_t end)
{
	struct search *search = context;
	struct reader *reader = search->reader;
	const struct wanted_addresses *wanted = reader->wanted;
	const struct call call = call_of(search->entry);

	search->has_code = true;
	for (size_t i = wanted_addresses__first(wanted, begin);
	     i < wanted->count && wanted->list[i] < end; i++) {
		struct place *place = &reader->places[i];

		if (!charge(reader, 1))
			return;
		if (place->function != search->function)
			continue;
		search->any = true;
		for (size_t level = 1; level <= reader->depth; level++)
			if (reader->levels[level].unranged.entry)
				add_call(reader, place, &reader->levels[level].unranged);
		add_call(reader, place, &call);
	}
}

static struct search search_ranges(struct reader *reader, const struct dwarf_entry *entry,
				   uint64_t function,
				   void (*take)(void *context, uint64_t begin, uint64_t end))
{
	struct search search = {.reader = reader, .entry = entry, .function = function};

	charge(reader, dwarf_unit__ranges(&reader->unit, entry, take, &search));
	return search;
}

/*
 * GCC (DWARF 2 to 4) ends a list of ranges at its begin where the first range is empty, and strict
 * DWARF 2 has no lists: such a call has the code that calls in it have, and what else it has is not
 * known.
 */
static void enter_inlined(struct reader *reader, const struct dwarf_entry *entry,
			  const struct level *outer, struct level *level)
{
	struct search search;

	level->skipped = !outer->function;
	if (level->skipped)
		return;
	search = search_ranges(reader, entry, outer->function, add_calls);
	level->skipped = !search.any && search.has_code;
	if (!search.has_code)
		level->unranged = call_of(entry);
}

/* Whether the children of an entry are of interest, in `level`. */
static void enter(struct reader *reader, const struct dwarf_entry *entry, const struct level *outer,
		  struct level *level)
{
	*level = (struct level){.function = outer->function, .skipped = outer->skipped};
	if (outer->skipped)
		return;
	switch (entry->tag) {
	case DWARF_SUBPROGRAM:
		level->function = entry->offset;
		level->skipped = !search_ranges(reader, entry, 0, claim).any;
		return;
	case DWARF_INLINED_SUBROUTINE:
		enter_inlined(reader, entry, outer, level);
		return;
	case DWARF_LEXICAL_BLOCK:
	case DWARF_TRY_BLOCK:
	case DWARF_CATCH_BLOCK:
		level->skipped = !outer->function;
		return;
	case DWARF_NAMESPACE:
	case DWARF_MODULE:
		level->skipped = outer->function;
		return;
	}
	level->skipped = true;
}

/* Past the children of an entry that is not of interest, if it says where. */
static bool skip_children(const struct dwarf_unit *unit, const struct dwarf_entry *entry,
			  struct dwarf_cursor *at)
{
	const struct dwarf_value *sibling = &entry->values[DWARF_SIBLING];
	struct dwarf_cursor next = dwarf_unit__from(unit, sibling->number);

	if (sibling->kind != DWARF_REFERENCE || next.at <= at->at)
		return false;
	*at = next;
	return true;
}

/* Reads an entry, and makes a level of it if its children follow. False: the unit ends, or makes no
 * sense from here on. */
static bool step(struct reader *reader, struct dwarf_cursor *at)
{
	struct level *outer = &reader->levels[reader->depth];
	struct dwarf_entry entry;

	if (!charge(reader, 1) || !dwarf_unit__entry(&reader->unit, at, &entry))
		return false;
	if (entry.tag == DWARF_END) {
		--reader->depth;
		return reader->depth;
	}
	if (reader->depth == MAX_LEVELS) {
		reader->missing |= DEBUG_INLINES_TOO_DEEP;
		return false;
	}
	enter(reader, &entry, outer, outer + 1);
	if (entry.children && (!outer[1].skipped || !skip_children(&reader->unit, &entry, at)))
		reader->depth++;
	return true;
}

/* The function in which reading ended: what else was inlined there is not known. */
static void drop_function(struct reader *reader, uint64_t function)
{
	for (size_t i = reader->first; i <= reader->last && i < reader->wanted->count; i++)
		if (reader->places[i].function == function)
			reader->places[i].incomplete = true;
}

static void walk(struct reader *reader)
{
	struct dwarf_cursor at = dwarf_unit__from(&reader->unit, reader->unit.first);
	struct dwarf_entry root;

	if (!dwarf_unit__entry(&reader->unit, &at, &root) || !root.children)
		return;
	reader->depth = 1;
	reader->levels[1] = (struct level){0};
	while (step(reader, &at))
		;
	if (reader->depth && reader->levels[reader->depth].function)
		drop_function(reader, reader->levels[reader->depth].function);
}

/* Abbreviations are read again where units take turns. */
static bool open_unit(struct reader *reader, struct dwarf_unit *unit, uint64_t offset)
{
	const struct dwarf_abbrevs *abbrevs = &unit->abbrevs;
	bool was_read;

	if (!charge(reader, 1) || !dwarf_unit__find(unit, &reader->sections, offset))
		return false;
	was_read = abbrevs->is_read && abbrevs->offset == unit->abbrev_offset;
	return dwarf_unit__open(unit) &&
	       (was_read || charge(reader, abbrevs->attribute_count / 16));
}

/* The unit that an offset lies in, open. NULL = none. */
static const struct dwarf_unit *unit_of(struct reader *reader, uint64_t offset)
{
	struct dwarf_unit *other = &reader->other;
	size_t low;

	if (offset >= reader->unit.first && offset < reader->unit.end)
		return &reader->unit;
	if (reader->other_is_open && offset >= other->first && offset < other->end)
		return other;
	low = sorted__count_before(reader->unit_count, i, reader->units[i] <= offset);
	reader->other_is_open = low && open_unit(reader, other, reader->units[low - 1]);
	return reader->other_is_open && offset >= other->first && offset < other->end ? other
										      : NULL;
}

/* An inlined call leads to the function, that to its declaration. NULL = it is not known. */
static const char *find_name(struct reader *reader, uint64_t offset)
{
	const char *name = NULL, *found;

	for (int hop = 0; hop < MAX_HOPS; hop++) {
		const struct dwarf_unit *unit = unit_of(reader, offset);
		const struct dwarf_value *next;
		struct dwarf_entry entry;
		struct dwarf_cursor at;

		if (!unit || !charge(reader, 1))
			break;
		at = dwarf_unit__from(unit, offset);
		if (!dwarf_unit__entry(unit, &at, &entry) || entry.tag == DWARF_END)
			break;
		found = dwarf_unit__text(unit, &entry.values[DWARF_LINKAGE_NAME]);
		if (found && *found)
			return found;
		found = dwarf_unit__text(unit, &entry.values[DWARF_NAME]);
		if (!name && found && *found)
			name = found;
		next = &entry.values[DWARF_ORIGIN];
		if (next->kind == DWARF_NONE)
			next = &entry.values[DWARF_SPECIFICATION];
		if (next->kind == DWARF_ELSEWHERE && !name)
			reader->missing |= DEBUG_INLINES_SHARED;
		if (entry.values[DWARF_NAME].kind == DWARF_ELSEWHERE && !name)
			reader->missing |= DEBUG_INLINES_SHARED;
		if (next->kind != DWARF_REFERENCE)
			break;
		offset = next->number;
	}
	return name;
}

static void put_call(struct reader *reader, uint64_t address, const struct call *call,
		     const char *name, const struct line_table *table)
{
	struct debug_inline sent = {.address = address};
	char path[LINE_PATH];

	line_table__path(table, call->file, path);
	sent.call_line = call->line <= UINT32_MAX ? (uint32_t)call->line : 0;
	sent.path_size = (uint32_t)strlen(path) + 1;
	sent.name_size = (uint32_t)strnlen(name, MAX_NAME) + 1;
	foreign_output__put(reader->output, &sent, sizeof(sent));
	foreign_output__put(reader->output, path, sent.path_size);
	foreign_output__put(reader->output, name, sent.name_size - 1);
	foreign_output__put(reader->output, "", 1);
}

/* All of an address or none: with a part of them, lines would be those of other functions. */
static void put_place(struct reader *reader, uint64_t address, const struct place *place,
		      const struct line_table *table)
{
	const size_t most = sizeof(struct debug_inline) + LINE_PATH + MAX_NAME + 2;
	const char *names[DEBUG_INLINES_DEPTH];

	/* One more for the last entry. */
	if (!foreign_output__fits(reader->output, (place->count + 1) * most)) {
		reader->missing |= DEBUG_INLINES_TOO_LARGE;
		return;
	}
	for (uint32_t i = 0; i < place->count; i++) {
		names[i] = find_name(reader, place->calls[i].entry);
		if (!names[i])
			return;
	}
	for (uint32_t i = place->count; i--;)
		put_call(reader, address, &place->calls[i], names[i], table);
}

/* What was found in this unit. */
static void put_places(struct reader *reader)
{
	const struct dwarf_unit *unit = &reader->unit;
	const struct dwarf_value *lines = &unit->root.values[DWARF_LINE_TABLE];
	struct line_table table = {0};
	uint64_t next;
	bool is_read = false;

	for (size_t i = reader->first; i <= reader->last && i < reader->wanted->count; i++) {
		struct place *place = &reader->places[i];

		if (!place->count || place->incomplete || place->function < unit->first ||
		    place->function >= unit->end)
			continue;
		if (!is_read && (lines->kind == DWARF_OFFSET || lines->kind == DWARF_NUMBER) &&
		    !line_table__read(&table, &reader->sections.lines, lines->number, &next))
			table.file_count = 0;
		is_read = true;
		put_place(reader, reader->wanted->list[i], place, &table);
		free(place->calls);
		*place = (struct place){.function = place->function};
	}
	line_table__free(&table);
}

static void read_unit(struct reader *reader, uint64_t offset)
{
	struct dwarf_unit *unit = &reader->unit;
	const struct dwarf_entry *root = &unit->root;

	if (!open_unit(reader, unit, offset) ||
	    (root->tag != DWARF_COMPILE_UNIT && root->tag != DWARF_SKELETON_UNIT) ||
	    !search_ranges(reader, root, 0, find_any).any)
		return;
	if (root->tag == DWARF_SKELETON_UNIT || root->values[DWARF_SPLIT_NAME].kind != DWARF_NONE) {
		reader->missing |= DEBUG_INLINES_SPLIT;
		return;
	}
	reader->first = SIZE_MAX;
	reader->last = 0;
	walk(reader);
	put_places(reader);
}

static int find_units(struct reader *reader)
{
	struct dwarf_unit unit = {0};

	for (uint64_t at = 0; dwarf_unit__find(&unit, &reader->sections, at); at = unit.end) {
		if (!array_grow__for_one(reader->units, reader->unit_capacity, reader->unit_count))
			return -ENOMEM;
		reader->units[reader->unit_count++] = at;
	}
	return 0;
}

static void free_all(struct reader *reader)
{
	for (size_t i = 0; reader->places && i < reader->wanted->count; i++)
		free(reader->places[i].calls);
	free(reader->places);
	free(reader->units);
	dwarf_unit__free(&reader->unit);
	dwarf_unit__free(&reader->other);
	debug_sections__free(&reader->sections);
}

static void put_missing(struct reader *reader)
{
	const struct debug_inline last = {.address = UINT64_MAX, .call_line = reader->missing};

	if (reader->missing)
		foreign_output__put(reader->output, &last, sizeof(last));
}

int debug_inlines__send(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	struct reader reader = {.wanted = argument, .output = output, .entries_left = MAX_ENTRIES};
	struct foreign_elf elf;
	int err = foreign_elf__open(&elf, fd, size, true);

	if (err)
		return err;
	reader.places = calloc(reader.wanted->count + 1, sizeof(*reader.places));
	err = reader.places ? debug_sections__load(&reader.sections, &elf) : -ENOMEM;
	if (err == -EFBIG) {
		/* Symbols and lines may be known all the same: the file has not failed. */
		reader.missing |= DEBUG_INLINES_TOO_LARGE;
		err = 0;
	} else if (!err && reader.sections.info.bytes) {
		err = find_units(&reader);
	}
	for (size_t i = 0; !err && i < reader.unit_count; i++)
		read_unit(&reader, reader.units[i]);
	if (!err)
		put_missing(&reader);
	free_all(&reader);
	foreign_elf__close(&elf);
	return err;
}
