// SPDX-License-Identifier: BSD-2-Clause
/*
 * The forms of attributes. Of those without use here the length must be known all the same, or
 * nothing after them can be read: an unknown form ends the unit.
 */
#include "cuda-trace/symbols/dwarf_unit.h"

#include <stdlib.h>
#include <string.h>

enum unit_type { UNIT_COMPILE = 1, UNIT_TYPE = 2, UNIT_SKELETON = 4, UNIT_SPLIT_TYPE = 6 };

int debug_sections__load(struct debug_sections *sections, struct foreign_elf *elf)
{
	const struct dwarf_section_wish wishes[] = {
		{".debug_info", &sections->info},
		{".debug_abbrev", &sections->abbrevs},
		{".debug_addr", &sections->addresses},
		{".debug_ranges", &sections->ranges},
		{".debug_rnglists", &sections->range_lists},
		{".debug_str_offsets", &sections->text_offsets},
		{".debug_line", &sections->lines.line},
		{".debug_line_str", &sections->lines.line_text},
		{".debug_str", &sections->lines.text},
	};

	return dwarf_sections__load(elf, wishes, sizeof(wishes) / sizeof(wishes[0]));
}

void debug_sections__free(struct debug_sections *sections)
{
	free(sections->info.bytes);
	free(sections->abbrevs.bytes);
	free(sections->addresses.bytes);
	free(sections->ranges.bytes);
	free(sections->range_lists.bytes);
	free(sections->text_offsets.bytes);
	free(sections->lines.line.bytes);
	free(sections->lines.line_text.bytes);
	free(sections->lines.text.bytes);
}

static bool read_length(struct dwarf_unit *unit, struct dwarf_cursor *at)
{
	uint64_t length;

	unit->offset_size = 4;
	if (!dwarf_cursor__fixed(at, 4, &length))
		return false;
	if (length == UINT32_MAX) {
		unit->offset_size = 8;
		if (!dwarf_cursor__fixed(at, 8, &length))
			return false;
	}
	if (length > (uint64_t)(at->end - at->at))
		return false;
	at->end = at->at + length;
	return true;
}

static bool read_header(struct dwarf_unit *unit, struct dwarf_cursor *at)
{
	uint64_t version, unused;
	uint8_t address_size;
	bool sound;

	if (!dwarf_cursor__fixed(at, 2, &version) || version < 2 || version > 5)
		return false;
	unit->version = (uint16_t)version;
	unit->type = UNIT_COMPILE;
	if (version >= 5) {
		unit->type = dwarf_cursor__byte(at);
		address_size = dwarf_cursor__byte(at);
		sound = dwarf_cursor__fixed(at, unit->offset_size, &unit->abbrev_offset);
	} else {
		sound = dwarf_cursor__fixed(at, unit->offset_size, &unit->abbrev_offset);
		address_size = dwarf_cursor__byte(at);
	}
	/* Identifiers, and where a type is. */
	if (unit->type >= UNIT_SKELETON)
		sound = sound && dwarf_cursor__fixed(at, 8, &unused);
	if (unit->type == UNIT_TYPE || unit->type == UNIT_SPLIT_TYPE)
		sound = sound && dwarf_cursor__fixed(at, 8, &unused) &&
			dwarf_cursor__fixed(at, unit->offset_size, &unused);
	return sound && address_size == 8;
}

bool dwarf_unit__find(struct dwarf_unit *unit, const struct debug_sections *sections,
		      uint64_t offset)
{
	struct dwarf_cursor at = dwarf_section__from(&sections->info, offset);
	const uint8_t *begin = sections->info.bytes;

	unit->sections = sections;
	unit->offset = offset;
	unit->first = 0;
	if (at.at == at.end || !read_length(unit, &at))
		return false;
	unit->end = (uint64_t)(at.end - begin);
	if (read_header(unit, &at))
		unit->first = (uint64_t)(at.at - begin);
	return true;
}

struct dwarf_cursor dwarf_unit__from(const struct dwarf_unit *unit, uint64_t offset)
{
	const uint8_t *begin = unit->sections->info.bytes;

	if (offset < unit->first || offset > unit->end)
		offset = unit->end;
	return (struct dwarf_cursor){.at = begin + offset, .end = begin + unit->end};
}

/* A file before DWARF 5 has none of these sections: what is left out there does not matter. */
static uint64_t base_of(const struct dwarf_entry *root, enum dwarf_slot slot, uint64_t header)
{
	const struct dwarf_value *value = &root->values[slot];

	return value->kind == DWARF_OFFSET || value->kind == DWARF_NUMBER ? value->number : header;
}

bool dwarf_unit__open(struct dwarf_unit *unit)
{
	struct dwarf_cursor at;

	if (!unit->first ||
	    !dwarf_abbrevs__read(&unit->abbrevs, &unit->sections->abbrevs, unit->abbrev_offset))
		return false;
	at = dwarf_unit__from(unit, unit->first);
	if (!dwarf_unit__entry(unit, &at, &unit->root) || unit->root.tag == DWARF_END)
		return false;
	unit->text_base = base_of(&unit->root, DWARF_TEXT_BASE, 8);
	unit->address_base = base_of(&unit->root, DWARF_ADDRESS_BASE, 8);
	unit->list_base = base_of(&unit->root, DWARF_LIST_BASE, 12);
	if (!dwarf_unit__address(unit, &unit->root.values[DWARF_LOW_PC], &unit->low_pc))
		unit->low_pc = 0;
	return true;
}

static int slot_of(uint32_t name)
{
	switch (name) {
	case 0x01:
		return DWARF_SIBLING;
	case 0x03:
		return DWARF_NAME;
	case 0x10:
		return DWARF_LINE_TABLE;
	case 0x11:
		return DWARF_LOW_PC;
	case 0x12:
		return DWARF_HIGH_PC;
	case 0x31:
		return DWARF_ORIGIN;
	case 0x47:
		return DWARF_SPECIFICATION;
	case 0x55:
		return DWARF_RANGES;
	case 0x58:
		return DWARF_CALL_FILE;
	case 0x59:
		return DWARF_CALL_LINE;
	case 0x6e:
	case 0x2007: /* before DWARF 4 */
		return DWARF_LINKAGE_NAME;
	case 0x72:
		return DWARF_TEXT_BASE;
	case 0x73:
		return DWARF_ADDRESS_BASE;
	case 0x74:
		return DWARF_LIST_BASE;
	case 0x76:
	case 0x2130: /* before DWARF 5 */
		return DWARF_SPLIT_NAME;
	}
	return -1;
}

static bool read_number(struct dwarf_cursor *at, int size, enum dwarf_kind kind,
			struct dwarf_value *value)
{
	value->kind = kind;
	return size ? dwarf_cursor__fixed(at, size, &value->number)
		    : dwarf_cursor__unsigned(at, &value->number);
}

static bool read_block(struct dwarf_cursor *at, int size)
{
	struct dwarf_value length = {0};

	return read_number(at, size, DWARF_NONE, &length) && dwarf_cursor__skip(at, length.number);
}

/* Within the unit: the number is from its header on. */
static bool read_reference(const struct dwarf_unit *unit, struct dwarf_cursor *at, int size,
			   struct dwarf_value *value)
{
	bool sound = read_number(at, size, DWARF_REFERENCE, value);

	if (value->number > unit->end - unit->offset)
		value->kind = DWARF_NONE;
	value->number += unit->offset;
	return sound;
}

/* The search for the end of a text in another section waits until it is wanted. */
static bool read_text(const struct dwarf_unit *unit, struct dwarf_cursor *at,
		      const struct dwarf_section *section, struct dwarf_value *value)
{
	value->kind = DWARF_TEXT;
	value->section = section;
	if (section)
		return dwarf_cursor__fixed(at, unit->offset_size, &value->number);
	value->text = dwarf_cursor__text(at);
	return value->text;
}

/* DW_FORM_*, by their numbers. */
static bool read_form(const struct dwarf_unit *unit, struct dwarf_cursor *at, uint64_t form,
		      struct dwarf_value *value)
{
	int offset_size = unit->offset_size;

	switch (form) {
	case 0x01: /* addr */
		return read_number(at, 8, DWARF_ADDRESS, value);
	case 0x03: /* block2 */
		return read_block(at, 2);
	case 0x04:
		return read_block(at, 4);
	case 0x05: /* data2 */
		return read_number(at, 2, DWARF_NUMBER, value);
	case 0x06:
		return read_number(at, 4, DWARF_NUMBER, value);
	case 0x07:
		return read_number(at, 8, DWARF_NUMBER, value);
	case 0x08: /* string */
		return read_text(unit, at, NULL, value);
	case 0x09: /* block, exprloc */
	case 0x18:
		return read_block(at, 0);
	case 0x0a:
		return read_block(at, 1);
	case 0x0b: /* data1, flag */
	case 0x0c:
		return read_number(at, 1, DWARF_NUMBER, value);
	case 0x0d: /* sdata, udata: a file or a line is below 0 in neither */
	case 0x0f:
		return read_number(at, 0, DWARF_NUMBER, value);
	case 0x0e: /* strp */
		return read_text(unit, at, &unit->sections->lines.text, value);
	case 0x10: /* ref_addr */
		return read_number(at, unit->version < 3 ? 8 : offset_size, DWARF_REFERENCE, value);
	case 0x11: /* ref1, 2, 4, 8, ref_udata */
	case 0x12:
	case 0x13:
	case 0x14:
		return read_reference(unit, at, 1 << (form - 0x11), value);
	case 0x15:
		return read_reference(unit, at, 0, value);
	case 0x17: /* sec_offset */
		return read_number(at, offset_size, DWARF_OFFSET, value);
	case 0x19: /* flag_present */
		return true;
	case 0x1a: /* strx, and 0x25 to 0x28 */
		return read_number(at, 0, DWARF_TEXT_INDEX, value);
	case 0x1b: /* addrx, and 0x29 to 0x2c */
		return read_number(at, 0, DWARF_ADDRESS_INDEX, value);
	case 0x1c: /* ref_sup4, ref_sup8 */
		return read_number(at, 4, DWARF_ELSEWHERE, value);
	case 0x24:
		return read_number(at, 8, DWARF_ELSEWHERE, value);
	case 0x1d: /* strp_sup, and GNU's of DWARF 4 */
	case 0x1f20:
	case 0x1f21:
		return read_number(at, offset_size, DWARF_ELSEWHERE, value);
	case 0x1e: /* data16 */
		return dwarf_cursor__skip(at, 16);
	case 0x1f: /* line_strp */
		return read_text(unit, at, &unit->sections->lines.line_text, value);
	case 0x20: /* ref_sig8: a type */
		return dwarf_cursor__skip(at, 8);
	case 0x22: /* loclistx */
		return read_number(at, 0, DWARF_NONE, value);
	case 0x23: /* rnglistx */
		return read_number(at, 0, DWARF_LIST_INDEX, value);
	case 0x25:
	case 0x26:
	case 0x27:
	case 0x28:
		return read_number(at, (int)form - 0x24, DWARF_TEXT_INDEX, value);
	case 0x29:
	case 0x2a:
	case 0x2b:
	case 0x2c:
		return read_number(at, (int)form - 0x28, DWARF_ADDRESS_INDEX, value);
	case 0x1f01: /* of split DWARF 4, whose bases are elsewhere */
	case 0x1f02:
		return read_number(at, 0, DWARF_NONE, value);
	}
	return false;
}

static bool read_value(const struct dwarf_unit *unit, struct dwarf_cursor *at,
		       const struct dwarf_attribute *attribute, struct dwarf_value *value)
{
	uint64_t form = attribute->form;

	*value = (struct dwarf_value){.kind = DWARF_NONE};
	if (form == 0x21) { /* implicit_const */
		value->kind = DWARF_NUMBER;
		value->number = (uint64_t)attribute->implicit;
		return true;
	}
	/* indirect: the form is here; once is enough. */
	if (form == 0x16 && !dwarf_cursor__unsigned(at, &form))
		return false;
	return read_form(unit, at, form, value);
}

bool dwarf_unit__entry(const struct dwarf_unit *unit, struct dwarf_cursor *at,
		       struct dwarf_entry *entry)
{
	const struct dwarf_abbrev *abbrev;
	struct dwarf_value value;
	uint64_t code;

	memset(entry, 0, sizeof(*entry));
	entry->offset = (uint64_t)(at->at - unit->sections->info.bytes);
	if (at->at == at->end || !dwarf_cursor__unsigned(at, &code))
		return false;
	if (!code)
		return true;
	abbrev = dwarf_abbrevs__find(&unit->abbrevs, code);
	if (!abbrev || abbrev->tag == DWARF_END)
		return false;
	entry->tag = abbrev->tag;
	entry->children = abbrev->children;
	for (uint32_t i = 0; i < abbrev->count; i++) {
		const struct dwarf_attribute *attribute =
			&unit->abbrevs.attributes[abbrev->first + i];
		int slot = slot_of(attribute->name);

		if (!read_value(unit, at, attribute, &value))
			return false;
		if (slot >= 0)
			entry->values[slot] = value;
	}
	return true;
}

bool dwarf_unit__address(const struct dwarf_unit *unit, const struct dwarf_value *value,
			 uint64_t *address)
{
	struct dwarf_cursor at;

	*address = value->number;
	if (value->kind == DWARF_ADDRESS)
		return true;
	if (value->kind != DWARF_ADDRESS_INDEX || value->number > UINT32_MAX ||
	    unit->address_base > unit->sections->addresses.size)
		return false;
	at = dwarf_section__from(&unit->sections->addresses,
				 unit->address_base + 8 * value->number);
	return dwarf_cursor__fixed(&at, 8, address);
}

const char *dwarf_unit__text(const struct dwarf_unit *unit, const struct dwarf_value *value)
{
	const struct debug_sections *sections = unit->sections;
	uint64_t offset = value->number;
	struct dwarf_cursor at;

	if (value->kind == DWARF_TEXT)
		return value->section ? dwarf_section__text(value->section, offset) : value->text;
	if (value->kind == DWARF_TEXT_INDEX) {
		if (offset > UINT32_MAX || unit->text_base > sections->text_offsets.size)
			return NULL;
		at = dwarf_section__from(&sections->text_offsets,
					 unit->text_base + (uint64_t)unit->offset_size * offset);
		return dwarf_cursor__fixed(&at, unit->offset_size, &offset)
			       ? dwarf_section__text(&sections->lines.text, offset)
			       : NULL;
	}
	return NULL;
}

void dwarf_unit__free(struct dwarf_unit *unit)
{
	dwarf_abbrevs__free(&unit->abbrevs);
}
