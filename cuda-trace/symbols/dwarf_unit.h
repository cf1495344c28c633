/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A unit of .debug_info (DWARF 2 to 5) and its entries, from a file that is not trusted: all
 * reading is bounded by the unit and by sections. For the process without privileges.
 */
#ifndef CUDA_TRACE_SYMBOLS_DWARF_UNIT_H
#define CUDA_TRACE_SYMBOLS_DWARF_UNIT_H

#include <stdbool.h>
#include "cuda-trace/symbols/dwarf_abbrevs.h"
#include "cuda-trace/symbols/line_table.h"

/* Those without which entries have fewer values, but for the first two. */
struct debug_sections {
	struct dwarf_section info, abbrevs, addresses, ranges, range_lists, text_offsets;
	struct line_sections lines;
};

/* Errors as dwarf_sections__load(); to be freed in any case. */
int debug_sections__load(struct debug_sections *sections, struct foreign_elf *elf);
void debug_sections__free(struct debug_sections *sections);

/* Tags that are of interest. */
enum dwarf_tag {
	DWARF_END = 0, /* of an entry's children */
	DWARF_LEXICAL_BLOCK = 0x0b,
	DWARF_COMPILE_UNIT = 0x11,
	DWARF_INLINED_SUBROUTINE = 0x1d,
	DWARF_MODULE = 0x1e,
	DWARF_CATCH_BLOCK = 0x25,
	DWARF_SUBPROGRAM = 0x2e,
	DWARF_TRY_BLOCK = 0x32,
	DWARF_NAMESPACE = 0x39,
	DWARF_SKELETON_UNIT = 0x4a,
};

/* Attributes that are of interest. */
enum dwarf_slot {
	DWARF_SIBLING,
	DWARF_NAME,
	DWARF_LINKAGE_NAME,
	DWARF_LOW_PC,
	DWARF_HIGH_PC,
	DWARF_RANGES,
	DWARF_ORIGIN,
	DWARF_SPECIFICATION,
	DWARF_CALL_FILE,
	DWARF_CALL_LINE,
	DWARF_LINE_TABLE,
	DWARF_TEXT_BASE,
	DWARF_ADDRESS_BASE,
	DWARF_LIST_BASE,
	DWARF_SPLIT_NAME,
	DWARF_SLOTS,
};

struct dwarf_value {
	enum dwarf_kind {
		DWARF_NONE, /* the entry does not have it, or in a form that cannot be */
		DWARF_NUMBER,
		DWARF_ADDRESS,
		DWARF_ADDRESS_INDEX,
		DWARF_TEXT,
		DWARF_TEXT_INDEX,
		DWARF_REFERENCE, /* in .debug_info */
		DWARF_OFFSET,	 /* in some section */
		DWARF_LIST_INDEX,
		DWARF_ELSEWHERE, /* in a file that this one shares with others */
	} kind;
	uint64_t number;
	const struct dwarf_section *section; /* of a text; NULL = it is in the entry itself */
	const char *text;
};

struct dwarf_entry {
	uint64_t offset; /* in .debug_info */
	uint32_t tag;
	bool children;
	struct dwarf_value values[DWARF_SLOTS];
};

struct dwarf_unit {
	const struct debug_sections *sections;
	uint64_t offset, first, end; /* in .debug_info: header, first entry */
	int offset_size;
	uint16_t version;
	uint8_t type;
	uint64_t abbrev_offset;
	struct dwarf_abbrevs abbrevs;
	struct dwarf_entry root; /* after dwarf_unit__open() */
	uint64_t low_pc, text_base, address_base, list_base;
};

/* Reads the header of the unit at `offset` alone. False: there is none. If it makes no sense,
 * `first` is 0. `end`: where the next one begins. */
bool dwarf_unit__find(struct dwarf_unit *unit, const struct debug_sections *sections,
		      uint64_t offset);
/* Reads abbreviations and the first entry of a unit that was found. */
bool dwarf_unit__open(struct dwarf_unit *unit);
/* From a place in the unit to its end. */
struct dwarf_cursor dwarf_unit__from(const struct dwarf_unit *unit, uint64_t offset);
/* The next entry. False: it makes no sense, or the unit ends. */
bool dwarf_unit__entry(const struct dwarf_unit *unit, struct dwarf_cursor *at,
		       struct dwarf_entry *entry);
bool dwarf_unit__address(const struct dwarf_unit *unit, const struct dwarf_value *value,
			 uint64_t *address);
/* NULL = it has none. */
const char *dwarf_unit__text(const struct dwarf_unit *unit, const struct dwarf_value *value);
/* Calls `take` with each range of the entry's code; how many there are. */
uint32_t dwarf_unit__ranges(const struct dwarf_unit *unit, const struct dwarf_entry *entry,
			    void (*take)(void *context, uint64_t begin, uint64_t end),
			    void *context);
void dwarf_unit__free(struct dwarf_unit *unit);

#endif
