// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs the line programs of all units, and keeps nothing of them but the rows in which a wanted
 * address lies. The answer is checked like the file itself.
 *
 * Failure modes: 1. any number is wrong: all reading is bounded by the section, and a unit that
 * makes no sense ends, not its successors. 2. sections are huge, or say that they are when
 * decompressed: there is one limit for all of a file. 3. millions of units or files: each takes
 * some bytes of the section, which is bounded, and the process has an allowance of time.
 */
#include "cuda-trace/symbols/debug_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/dwarf_cursor.h"

#define MAX_ENTRIES 65536 /* folders or files of a unit */
#define MAX_FORMATS 16
#define MAX_OPCODES 64
#define MAX_PATH    4096

struct section {
	uint8_t *bytes;
	size_t size;
};

struct entry {
	const char *path;
	uint64_t folder;
};

struct reader {
	const struct debug_lines_wish *wish;
	bool *found; /* of the wish */
	struct foreign_output *output;
	struct section line, line_text, text;
};

struct unit {
	uint16_t version;
	int offset_size;
	uint8_t minimum, opcode_base, line_range;
	int8_t line_base;
	uint8_t lengths[MAX_OPCODES];
	struct entry *folders, *files;
	size_t folder_count, file_count;
};

struct row {
	uint64_t address, file;
	int64_t line;
};

/* ---- in a process without privileges ---- */

static bool fixed(struct dwarf_cursor *cursor, int size, uint64_t *value)
{
	*value = 0;
	if (cursor->end - cursor->at < size)
		return false;
	memcpy(value, cursor->at, (size_t)size);
	cursor->at += size;
	return true;
}

static uint8_t byte(struct dwarf_cursor *cursor)
{
	uint64_t value;

	return fixed(cursor, 1, &value) ? (uint8_t)value : 0;
}

static const char *text(struct dwarf_cursor *cursor)
{
	const uint8_t *end = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));
	const char *found = (const char *)cursor->at;

	if (!end)
		return NULL;
	cursor->at = end + 1;
	return found;
}

static const char *text_of(const struct section *section, uint64_t offset)
{
	if (offset >= section->size || !memchr(section->bytes + offset, 0, section->size - offset))
		return NULL;
	return (const char *)section->bytes + offset;
}

static int inflate_section(struct section *section, size_t limit)
{
	Elf64_Chdr head;
	unsigned long size;
	uint8_t *bytes;
	bool done = false;

	if (section->size < sizeof(head))
		return -ENOEXEC;
	memcpy(&head, section->bytes, sizeof(head));
	if (head.ch_size > limit)
		return -EFBIG;
	bytes = malloc(head.ch_size + 1);
	if (!bytes)
		return -ENOMEM;
	size = head.ch_size;
	if (head.ch_type == ELFCOMPRESS_ZLIB)
		done = uncompress(bytes, &size, section->bytes + sizeof(head),
				  section->size - sizeof(head)) == Z_OK;
	else if (head.ch_type == 2) /* zstd */
		done = ZSTD_decompress(bytes, size, section->bytes + sizeof(head),
				       section->size - sizeof(head)) == size;
	if (!done || size != head.ch_size) {
		free(bytes);
		return -ENOEXEC;
	}
	free(section->bytes);
	section->bytes = bytes;
	section->size = size;
	return 0;
}

static int load(struct foreign_elf *elf, const Elf64_Shdr *header, struct section *section)
{
	void *bytes;
	int err;

	if (section->bytes || header->sh_type == SHT_NOBITS)
		return 0;
	err = foreign_elf__load(elf, header->sh_offset, header->sh_size, &bytes);
	if (err)
		return err;
	*section = (struct section){bytes, header->sh_size};
	if (header->sh_flags & SHF_COMPRESSED)
		err = inflate_section(section, elf->left);
	if (!err && header->sh_flags & SHF_COMPRESSED)
		elf->left -= section->size;
	return err;
}

static int load_sections(struct reader *reader, struct foreign_elf *elf)
{
	int err = 0;

	for (uint32_t i = 0; i < elf->section_count && !err; i++) {
		const char *name = foreign_elf__section_name(elf, i);

		if (!strcmp(name, ".debug_line"))
			err = load(elf, &elf->sections[i], &reader->line);
		else if (!strcmp(name, ".debug_line_str"))
			err = load(elf, &elf->sections[i], &reader->line_text);
		else if (!strcmp(name, ".debug_str"))
			err = load(elf, &elf->sections[i], &reader->text);
	}
	return err;
}

/* The first wanted address that is not below. */
static size_t first_at(const struct debug_lines_wish *wish, uint64_t address)
{
	size_t low = 0, high = wish->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wish->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A folder may be relative to the unit's own, the first; before DWARF 5 that is not in here. */
static void make_path(const struct unit *unit, uint64_t file, char path[MAX_PATH])
{
	uint64_t index = unit->version < 5 ? file - 1 : file, folder;
	const char *name, *in = "", *root = "";

	*path = 0;
	if (index >= unit->file_count || !unit->files[index].path)
		return;
	name = unit->files[index].path;
	folder = unit->files[index].folder;
	if (unit->version < 5 && folder)
		folder--;
	else if (unit->version < 5)
		folder = unit->folder_count;
	if (*name != '/' && folder < unit->folder_count && unit->folders[folder].path)
		in = unit->folders[folder].path;
	if (*name != '/' && *in != '/' && unit->version >= 5 && folder && unit->folder_count &&
	    unit->folders[0].path)
		root = unit->folders[0].path;
	snprintf(path, MAX_PATH, "%s%s%s%s%s", root, *root ? "/" : "", in, *in ? "/" : "", name);
}

static void put_lines(struct reader *reader, const struct unit *unit, const struct row *row,
		      uint64_t end)
{
	char path[MAX_PATH] = "";

	for (size_t i = first_at(reader->wish, row->address);
	     i < reader->wish->count && reader->wish->addresses[i] < end; i++) {
		struct debug_line sent = {.address = reader->wish->addresses[i],
					  .line = (uint32_t)row->line};

		if (reader->found[i] || row->line <= 0 || row->line > UINT32_MAX)
			continue;
		if (!*path)
			make_path(unit, row->file, path);
		if (!*path)
			return;
		sent.path_size = (uint32_t)strlen(path) + 1;
		if (!foreign_output__fits(reader->output, sizeof(sent) + sent.path_size))
			return;
		foreign_output__put(reader->output, &sent, sizeof(sent));
		foreign_output__put(reader->output, path, sent.path_size);
		reader->found[i] = true;
	}
}

/* State of a line program. */
struct machine {
	struct row now, last;
	bool any; /* `last` is a row of this sequence */
};

static void emit(struct reader *reader, const struct unit *unit, struct machine *machine, bool end)
{
	if (machine->any && machine->now.address > machine->last.address)
		put_lines(reader, unit, &machine->last, machine->now.address);
	machine->last = machine->now;
	machine->any = !end;
}

static bool run_extended(struct reader *reader, const struct unit *unit,
			 struct dwarf_cursor *program, struct machine *machine)
{
	struct dwarf_cursor operands;
	uint64_t length, address;

	if (!dwarf_cursor__unsigned(program, &length) || !length ||
	    length > (uint64_t)(program->end - program->at))
		return false;
	operands = (struct dwarf_cursor){.at = program->at, .end = program->at + length};
	program->at += length;
	switch (byte(&operands)) {
	case 1:
		emit(reader, unit, machine, true);
		machine->now = (struct row){.file = 1, .line = 1};
		break;
	case 2:
		if (!fixed(&operands, 8, &address))
			return false;
		machine->now.address = address;
		break;
	}
	return true;
}

static bool run_standard(struct reader *reader, const struct unit *unit,
			 struct dwarf_cursor *program, struct machine *machine, uint8_t opcode)
{
	uint64_t value = 0;
	int64_t step = 0;
	bool sound = true;

	switch (opcode) {
	case 1:
		emit(reader, unit, machine, false);
		break;
	case 2:
		sound = dwarf_cursor__unsigned(program, &value);
		machine->now.address += value * unit->minimum;
		break;
	case 3:
		sound = dwarf_cursor__signed(program, &step);
		machine->now.line = (int64_t)((uint64_t)machine->now.line + (uint64_t)step);
		break;
	case 4:
		sound = dwarf_cursor__unsigned(program, &machine->now.file);
		break;
	case 8:
		machine->now.address +=
			(uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->minimum;
		break;
	case 9:
		sound = fixed(program, 2, &value);
		machine->now.address += value;
		break;
	default:
		for (int i = 0; sound && i < unit->lengths[opcode]; i++)
			sound = dwarf_cursor__unsigned(program, &value);
	}
	return sound;
}

static void run(struct reader *reader, const struct unit *unit, struct dwarf_cursor program)
{
	struct machine machine = {.now = {.file = 1, .line = 1}};

	while (program.at < program.end) {
		uint8_t opcode = byte(&program);

		if (opcode >= unit->opcode_base) {
			opcode -= unit->opcode_base;
			machine.now.address +=
				(uint64_t)(opcode / unit->line_range) * unit->minimum;
			machine.now.line =
				(int64_t)((uint64_t)machine.now.line +
					  (uint64_t)(int64_t)(unit->line_base +
							      opcode % unit->line_range));
			emit(reader, unit, &machine, false);
		} else if (!(opcode ? run_standard(reader, unit, &program, &machine, opcode)
				    : run_extended(reader, unit, &program, &machine))) {
			return;
		}
	}
}

/* Before DWARF 5: texts up to an empty one; files have three numbers behind them. */
static bool read_old_entries(struct dwarf_cursor *header, struct entry **list, size_t *count,
			     bool files)
{
	uint64_t unused;

	*list = calloc(MAX_ENTRIES, sizeof(**list));
	for (const char *path = *list ? text(header) : NULL; path; path = text(header)) {
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
static bool read_form(const struct reader *reader, const struct unit *unit,
		      struct dwarf_cursor *header, uint64_t form, const char **string,
		      uint64_t *number)
{
	*string = NULL;
	*number = 0;
	switch (form) {
	case 0x08:
		*string = text(header);
		return *string;
	case 0x1f:
	case 0x0e:
		if (!fixed(header, unit->offset_size, number))
			return false;
		*string = text_of(form == 0x1f ? &reader->line_text : &reader->text, *number);
		return true;
	case 0x0f:
		return dwarf_cursor__unsigned(header, number);
	case 0x0b:
		return fixed(header, 1, number);
	case 0x05:
		return fixed(header, 2, number);
	case 0x06:
		return fixed(header, 4, number);
	case 0x07:
		return fixed(header, 8, number);
	case 0x1e: /* a checksum */
		return fixed(header, 8, number) && fixed(header, 8, number);
	case 0x09:
		if (!dwarf_cursor__unsigned(header, number) ||
		    *number > (uint64_t)(header->end - header->at))
			return false;
		header->at += *number;
		return true;
	}
	return false;
}

static bool read_entries(const struct reader *reader, const struct unit *unit,
			 struct dwarf_cursor *header, struct entry **list, size_t *count)
{
	uint64_t formats[MAX_FORMATS][2], entries, number;
	uint8_t format_count = byte(header);
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
			if (!read_form(reader, unit, header, formats[i][1], &string, &number))
				return false;
			if (formats[i][0] == 1)
				(*list)[*count].path = string;
			else if (formats[i][0] == 2)
				(*list)[*count].folder = number;
		}
	return true;
}

static bool read_tables(const struct reader *reader, struct unit *unit, struct dwarf_cursor *header)
{
	if (unit->version >= 5)
		return read_entries(reader, unit, header, &unit->folders, &unit->folder_count) &&
		       read_entries(reader, unit, header, &unit->files, &unit->file_count);
	return read_old_entries(header, &unit->folders, &unit->folder_count, false) &&
	       read_old_entries(header, &unit->files, &unit->file_count, true);
}

static bool read_header(struct unit *unit, struct dwarf_cursor *all, struct dwarf_cursor *header)
{
	uint64_t version, length;

	if (!fixed(all, 2, &version) || version < 2 || version > 5)
		return false;
	unit->version = (uint16_t)version;
	/* Sizes of addresses and of selectors. */
	if (version >= 5 && (byte(all) != 8 || byte(all)))
		return false;
	if (!fixed(all, unit->offset_size, &length) || length > (uint64_t)(all->end - all->at))
		return false;
	*header = (struct dwarf_cursor){.at = all->at, .end = all->at + length};
	all->at += length;
	unit->minimum = byte(header);
	if (version >= 4)
		byte(header);
	byte(header);
	unit->line_base = (int8_t)byte(header);
	unit->line_range = byte(header);
	unit->opcode_base = byte(header);
	if (!unit->line_range || !unit->opcode_base || unit->opcode_base > MAX_OPCODES)
		return false;
	for (int i = 1; i < unit->opcode_base; i++)
		unit->lengths[i] = byte(header);
	return true;
}

static void read_unit(struct reader *reader, struct dwarf_cursor all, int offset_size)
{
	struct unit unit = {.offset_size = offset_size};
	struct dwarf_cursor header;

	if (read_header(&unit, &all, &header) && read_tables(reader, &unit, &header))
		run(reader, &unit, all);
	free(unit.folders);
	free(unit.files);
}

static void read_units(struct reader *reader)
{
	struct dwarf_cursor left = {.at = reader->line.bytes,
				    .end = reader->line.bytes + reader->line.size};
	uint64_t length;

	while (fixed(&left, 4, &length)) {
		int offset_size = length == UINT32_MAX ? 8 : 4;
		struct dwarf_cursor unit;

		if (offset_size == 8 && !fixed(&left, 8, &length))
			return;
		if (length > (uint64_t)(left.end - left.at))
			return;
		unit = (struct dwarf_cursor){.at = left.at, .end = left.at + length};
		left.at += length;
		read_unit(reader, unit, offset_size);
	}
}

int debug_lines__send(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	struct reader reader = {.wish = argument, .output = output};
	struct foreign_elf elf;
	int err = foreign_elf__open(&elf, fd, size, true);

	if (err)
		return err;
	reader.found = calloc(reader.wish->count + 1, sizeof(*reader.found));
	err = reader.found ? load_sections(&reader, &elf) : -ENOMEM;
	if (!err && reader.line.bytes)
		read_units(&reader);
	free(reader.line.bytes);
	free(reader.line_text.bytes);
	free(reader.text.bytes);
	free(reader.found);
	foreign_elf__close(&elf);
	return err;
}
