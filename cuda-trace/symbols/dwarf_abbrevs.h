/* SPDX-License-Identifier: BSD-2-Clause */
/* The abbreviations of a unit (.debug_abbrev): which attributes its entries have, in which forms.
 */
#ifndef CUDA_TRACE_SYMBOLS_DWARF_ABBREVS_H
#define CUDA_TRACE_SYMBOLS_DWARF_ABBREVS_H

#include <stdbool.h>
#include "cuda-trace/symbols/dwarf_sections.h"

struct dwarf_attribute {
	uint32_t name, form;
	int64_t implicit; /* the value, with DW_FORM_implicit_const */
};

struct dwarf_abbrev {
	uint64_t code;
	uint32_t tag;
	uint32_t first, count; /* in attributes */
	bool children;
};

/* All zero is an empty one. */
struct dwarf_abbrevs {
	struct dwarf_abbrev *list; /* codes ascend */
	struct dwarf_attribute *attributes;
	uint32_t count, capacity, attribute_count, attribute_capacity;
	uint64_t offset;
	bool is_read; /* those at that offset */
};

/* Does nothing if they are those at `offset` already. False: they make no sense, or no memory. */
bool dwarf_abbrevs__read(struct dwarf_abbrevs *abbrevs, const struct dwarf_section *section,
			 uint64_t offset);
/* NULL = there is none of that code. */
const struct dwarf_abbrev *dwarf_abbrevs__find(const struct dwarf_abbrevs *abbrevs, uint64_t code);
void dwarf_abbrevs__free(struct dwarf_abbrevs *abbrevs);

#endif
