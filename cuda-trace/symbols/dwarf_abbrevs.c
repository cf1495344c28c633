// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/symbols/dwarf_abbrevs.h"

#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"

#define MAX_ABBREVS    (1u << 20) /* of a unit: compilers make some hundred */
#define MAX_ATTRIBUTES (1u << 22) /* of all of them */
#define MAX_EACH       256	  /* of one abbreviation: compilers use some twenty */
#define IMPLICIT_CONST 0x21

/* One attribute; *last: it is the end of the list. */
static bool read_attribute(struct dwarf_abbrevs *abbrevs, struct dwarf_cursor *at, bool *last)
{
	struct dwarf_attribute attribute = {0};
	uint64_t name, form;

	if (!dwarf_cursor__unsigned(at, &name) || !dwarf_cursor__unsigned(at, &form) ||
	    name > UINT32_MAX || form > UINT32_MAX)
		return false;
	attribute.name = (uint32_t)name;
	attribute.form = (uint32_t)form;
	if (form == IMPLICIT_CONST && !dwarf_cursor__signed(at, &attribute.implicit))
		return false;
	*last = !name && !form;
	if (*last)
		return true;
	if (abbrevs->attribute_count == MAX_ATTRIBUTES ||
	    !array_grow__for_one(abbrevs->attributes, abbrevs->attribute_capacity,
				 abbrevs->attribute_count))
		return false;
	abbrevs->attributes[abbrevs->attribute_count++] = attribute;
	return true;
}

static bool read_abbrev(struct dwarf_abbrevs *abbrevs, struct dwarf_cursor *at, uint64_t code)
{
	struct dwarf_abbrev abbrev = {.code = code, .first = abbrevs->attribute_count};
	uint64_t tag;
	bool last = false;

	if (!dwarf_cursor__unsigned(at, &tag) || tag > UINT32_MAX || at->at == at->end)
		return false;
	abbrev.tag = (uint32_t)tag;
	abbrev.children = dwarf_cursor__byte(at);
	while (!last)
		if (abbrevs->attribute_count - abbrev.first > MAX_EACH ||
		    !read_attribute(abbrevs, at, &last))
			return false;
	abbrev.count = abbrevs->attribute_count - abbrev.first;
	if (abbrevs->count == MAX_ABBREVS ||
	    !array_grow__for_one(abbrevs->list, abbrevs->capacity, abbrevs->count))
		return false;
	abbrevs->list[abbrevs->count++] = abbrev;
	return true;
}

static int by_code(const void *a, const void *b)
{
	const struct dwarf_abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

bool dwarf_abbrevs__read(struct dwarf_abbrevs *abbrevs, const struct dwarf_section *section,
			 uint64_t offset)
{
	struct dwarf_cursor at = dwarf_section__from(section, offset);
	bool ascending = true;
	uint64_t code;

	if (abbrevs->is_read && abbrevs->offset == offset)
		return true;
	abbrevs->is_read = false;
	abbrevs->count = abbrevs->attribute_count = 0;
	/* Linkers and dwz may leave out the last zero. */
	while (at.at < at.end && dwarf_cursor__unsigned(&at, &code) && code) {
		if (!read_abbrev(abbrevs, &at, code))
			return false;
		if (abbrevs->count > 1)
			ascending = ascending && abbrevs->list[abbrevs->count - 2].code < code;
	}
	if (!ascending)
		qsort(abbrevs->list, abbrevs->count, sizeof(*abbrevs->list), by_code);
	abbrevs->offset = offset;
	abbrevs->is_read = abbrevs->count;
	return abbrevs->is_read;
}

const struct dwarf_abbrev *dwarf_abbrevs__find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct dwarf_abbrev key = {.code = code};

	/* Mostly they are 1, 2, 3 ... */
	if (code - 1 < abbrevs->count && abbrevs->list[code - 1].code == code)
		return &abbrevs->list[code - 1];
	if (!abbrevs->count)
		return NULL;
	return bsearch(&key, abbrevs->list, abbrevs->count, sizeof(key), by_code);
}

void dwarf_abbrevs__free(struct dwarf_abbrevs *abbrevs)
{
	free(abbrevs->list);
	free(abbrevs->attributes);
	*abbrevs = (struct dwarf_abbrevs){0};
}
