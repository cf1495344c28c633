/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of debug information, decompressed, of a file that is not trusted. For the process
 * without privileges. */
#ifndef CUDA_TRACE_SYMBOLS_DWARF_SECTIONS_H
#define CUDA_TRACE_SYMBOLS_DWARF_SECTIONS_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/symbols/dwarf_cursor.h"

struct foreign_elf;

struct dwarf_section {
	uint8_t *bytes; /* NULL = the file has none */
	size_t size;
};

struct dwarf_section_wish {
	const char *name;
	struct dwarf_section *section; /* empty */
};

/* The first of each name. What is read and what is decompressed count against one limit: -EFBIG,
 * and other errors as foreign_elf__load(). The sections are to be freed also after an error. */
int dwarf_sections__load(struct foreign_elf *elf, const struct dwarf_section_wish *wishes,
			 size_t count);
/* From `offset` to the section's end; an empty one if the offset is outside. */
struct dwarf_cursor dwarf_section__from(const struct dwarf_section *section, uint64_t offset);
/* NULL = there is no text, or it has no end. */
const char *dwarf_section__text(const struct dwarf_section *section, uint64_t offset);

#endif
