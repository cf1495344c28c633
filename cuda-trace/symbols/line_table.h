/* SPDX-License-Identifier: BSD-2-Clause */
/* What a unit's line table begins with: the files that its lines are of. DWARF 2 to 5, not
 * trusted. */
#ifndef CUDA_TRACE_SYMBOLS_LINE_TABLE_H
#define CUDA_TRACE_SYMBOLS_LINE_TABLE_H

#include <stdbool.h>
#include "cuda-trace/symbols/dwarf_sections.h"

#define LINE_OPCODES 64
#define LINE_PATH    4096

/* .debug_line, .debug_line_str and .debug_str. */
struct line_sections {
	struct dwarf_section line, line_text, text;
};

struct line_entry {
	const char *path; /* in a section; NULL = not known */
	uint64_t folder;
};

struct line_table {
	uint16_t version;
	int offset_size;
	uint8_t minimum, opcode_base, line_range;
	int8_t line_base;
	uint8_t lengths[LINE_OPCODES];
	struct line_entry *folders, *files;
	size_t folder_count, file_count;
	struct dwarf_cursor program;
};

/* The table at `offset`; *next: where the next one begins, at most the section's size. False: it
 * makes no sense. To be freed in both cases. */
bool line_table__read(struct line_table *table, const struct line_sections *sections,
		      uint64_t offset, uint64_t *next);
/* Of the file of that number; "" = it is not known. */
void line_table__path(const struct line_table *table, uint64_t file, char path[LINE_PATH]);
void line_table__free(struct line_table *table);

#endif
