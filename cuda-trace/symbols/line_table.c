// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/symbols/line_table.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_ENTRIES 65536 /* folders or files of a unit */
#define MAX_FORMATS 16

/* A folder may be relative to the unit's own, the first; before DWARF 5 that is not in here. */
void line_table__path(const struct line_table *table, uint64_t file, char path[LINE_PATH])
{
	uint64_t index = table->version < 5 ? file - 1 : file, folder;
	const char *name, *in = "", *root = "";

	*path = 0;
	if (index >= table->file_count || !table->files[index].path)
		return;
	name = table->files[index].path;
	folder = table->files[index].folder;
	if (table->version < 5 && folder)
		folder--;
	else if (table->version < 5)
		folder = table->folder_count;
	if (*name != '/' && folder < table->folder_count && table->folders[folder].path)
		in = table->folders[folder].path;
	if (*name != '/' && *in != '/' && table->version >= 5 && folder && table->folder_count &&
	    table->folders[0].path)
		root = table->folders[0].path;
	snprintf(path, LINE_PATH, "%s%s%s%s%s", root, *root ? "/" : "", in, *in ? "/" : "", name);
}

/* Before DWARF 5: texts up to an empty one; files have three numbers behind them. */
static bool read_old_entries(struct dwarf_cursor *header, struct line_entry **list, size_t *count,
			     bool files)
{
	uint64_t unused;

	*list = calloc(MAX_ENTRIES, sizeof(**list));
	for (const char *path = *list ? dwarf_cursor__text(header) : NULL; path;
	     path = dwarf_cursor__text(header)) {
		if (!*path)
			return true;
		if (*count == MAX_ENTRIES)
			return false;
		(*list)[*count].path = path;
		if (files && (!dwarf_cursor__unsigned(header, &(*list)[*count].folder) ||
			      !dwarf_cursor__unsigned(header, &unused) ||
			      !dwarf_cursor__unsigned(header, &unused)))
			return false;
		++*count;
	}
	return false;
}

/* One value of an entry: a text or a number. */
static bool read_form(const struct line_sections *sections, const struct line_table *table,
		      struct dwarf_cursor *header, uint64_t form, const char **string,
		      uint64_t *number)
{
	*string = NULL;
	*number = 0;
	switch (form) {
	case 0x08:
		*string = dwarf_cursor__text(header);
		return *string;
	case 0x1f:
	case 0x0e:
		if (!dwarf_cursor__fixed(header, table->offset_size, number))
			return false;
		*string = dwarf_section__text(form == 0x1f ? &sections->line_text : &sections->text,
					      *number);
		return true;
	case 0x0f:
		return dwarf_cursor__unsigned(header, number);
	case 0x0b:
		return dwarf_cursor__fixed(header, 1, number);
	case 0x05:
		return dwarf_cursor__fixed(header, 2, number);
	case 0x06:
		return dwarf_cursor__fixed(header, 4, number);
	case 0x07:
		return dwarf_cursor__fixed(header, 8, number);
	case 0x1e: /* a checksum */
		return dwarf_cursor__fixed(header, 8, number) &&
		       dwarf_cursor__fixed(header, 8, number);
	case 0x09:
		if (!dwarf_cursor__unsigned(header, number) ||
		    *number > (uint64_t)(header->end - header->at))
			return false;
		header->at += *number;
		return true;
	}
	return false;
}

static bool read_entries(const struct line_sections *sections, const struct line_table *table,
			 struct dwarf_cursor *header, struct line_entry **list, size_t *count)
{
	uint64_t formats[MAX_FORMATS][2], entries, number;
	uint8_t format_count = dwarf_cursor__byte(header);
	const char *string;

	if (format_count > MAX_FORMATS)
		return false;
	for (int i = 0; i < format_count; i++)
		if (!dwarf_cursor__unsigned(header, &formats[i][0]) ||
		    !dwarf_cursor__unsigned(header, &formats[i][1]))
			return false;
	if (!dwarf_cursor__unsigned(header, &entries) || entries > MAX_ENTRIES)
		return false;
	*list = calloc(entries + 1, sizeof(**list));
	if (!*list)
		return false;
	for (; *count < entries; ++*count)
		for (int i = 0; i < format_count; i++) {
			if (!read_form(sections, table, header, formats[i][1], &string, &number))
				return false;
			if (formats[i][0] == 1)
				(*list)[*count].path = string;
			else if (formats[i][0] == 2)
				(*list)[*count].folder = number;
		}
	return true;
}

static bool read_tables(const struct line_sections *sections, struct line_table *table,
			struct dwarf_cursor *header)
{
	if (table->version >= 5)
		return read_entries(sections, table, header, &table->folders,
				    &table->folder_count) &&
		       read_entries(sections, table, header, &table->files, &table->file_count);
	return read_old_entries(header, &table->folders, &table->folder_count, false) &&
	       read_old_entries(header, &table->files, &table->file_count, true);
}

static bool read_header(struct line_table *table, struct dwarf_cursor *all,
			struct dwarf_cursor *header)
{
	uint64_t version, length;

	if (!dwarf_cursor__fixed(all, 2, &version) || version < 2 || version > 5)
		return false;
	table->version = (uint16_t)version;
	/* Sizes of addresses and of selectors. */
	if (version >= 5 && (dwarf_cursor__byte(all) != 8 || dwarf_cursor__byte(all)))
		return false;
	if (!dwarf_cursor__fixed(all, table->offset_size, &length) ||
	    length > (uint64_t)(all->end - all->at))
		return false;
	*header = (struct dwarf_cursor){.at = all->at, .end = all->at + length};
	all->at += length;
	table->minimum = dwarf_cursor__byte(header);
	if (version >= 4)
		dwarf_cursor__byte(header);
	dwarf_cursor__byte(header);
	table->line_base = (int8_t)dwarf_cursor__byte(header);
	table->line_range = dwarf_cursor__byte(header);
	table->opcode_base = dwarf_cursor__byte(header);
	if (!table->line_range || !table->opcode_base || table->opcode_base > LINE_OPCODES)
		return false;
	for (int i = 1; i < table->opcode_base; i++)
		table->lengths[i] = dwarf_cursor__byte(header);
	return true;
}

bool line_table__read(struct line_table *table, const struct line_sections *sections,
		      uint64_t offset, uint64_t *next)
{
	struct dwarf_cursor all = dwarf_section__from(&sections->line, offset), header;
	uint64_t length;

	*table = (struct line_table){.offset_size = 4};
	*next = sections->line.size;
	if (!dwarf_cursor__fixed(&all, 4, &length))
		return false;
	table->offset_size = length == UINT32_MAX ? 8 : 4;
	if (table->offset_size == 8 && !dwarf_cursor__fixed(&all, 8, &length))
		return false;
	if (length > (uint64_t)(all.end - all.at))
		return false;
	all.end = all.at + length;
	*next = (uint64_t)(all.end - sections->line.bytes);
	if (!read_header(table, &all, &header) || !read_tables(sections, table, &header))
		return false;
	table->program = all;
	return true;
}

void line_table__free(struct line_table *table)
{
	free(table->folders);
	free(table->files);
	table->folders = table->files = NULL;
}
