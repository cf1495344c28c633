// SPDX-License-Identifier: BSD-2-Clause
/*
 * DWARF 2 to 4 as nvcc -lineinfo writes it: a sequence for each function, which a relocation of its
 * address names, and an extended opcode of NVIDIA's (0x90) that says of the rows to come: the
 * number of the row of this sequence that the function was called at, from 1 (0 = it is not
 * inlined), and where its name is in .debug_str.
 *
 * Failure modes: 1. any number is wrong: all reading is bounded by the section, and what does not
 * fit ends it. 2. rows that call each other in a circle, or thousands deep: a row may only be
 * called at an earlier one, and 32 are shown. 3. a table of millions of rows: there is an end to
 * them. 4. many of everything, so that looking things up takes for ever: all looks at an image are
 * counted, and at some number it has nothing more to say.
 */
#include "cuda-trace/profile/code/code_lines.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"

#define MAX_ROWS     (1u << 20)
#define MAX_FILES    4096
#define MAX_FOLDERS  256 /* of a unit */
#define MAX_OPCODES  64
#define MAX_LOOKS    (1u << 22)
#define LONGEST_TEXT 65536
#define TEXT_LOOKS   64 /* that a long text costs */
#define INLINED_CALL 0x90

struct bytes {
	const uint8_t *at, *end;
};

struct row {
	uint64_t address;
	uint32_t file, line, context, name;
	bool is_end;
};

struct sequence {
	const char *function;
	uint32_t first, count;
};

struct pc_lines {
	const uint8_t *image;
	size_t size;
	struct bytes line, text, relocations, symbols, names;
	struct row *rows;
	struct sequence *sequences;
	uint32_t row_count, row_capacity, sequence_count, sequence_capacity;
	struct file {
		const char *path, *folder;
	} * files; /* of all units */
	uint32_t file_count, file_capacity;
	const struct sequence *last; /* of the previous lookup */
	uint64_t relocation;	     /* after the one that was found last */
	uint32_t looks;
};

/* ---- bytes ---- */

static uint64_t number(struct bytes *from, int size)
{
	uint64_t value = 0;

	if (from->end - from->at < size) {
		from->at = from->end;
		return 0;
	}
	memcpy(&value, from->at, size);
	from->at += size;
	return value;
}

static uint64_t uleb(struct bytes *from)
{
	uint64_t value = 0;

	for (int shift = 0; from->at < from->end; shift += 7) {
		uint8_t byte = *from->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static int64_t sleb(struct bytes *from)
{
	int64_t value = 0;
	int shift = 0;

	while (from->at < from->end) {
		uint8_t byte = *from->at++;

		if (shift < 64)
			value |= (int64_t)((uint64_t)(byte & 0x7f) << shift);
		shift += 7;
		if (!(byte & 0x80)) {
			if (byte & 0x40 && shift < 64)
				value |= (int64_t)(~0ull << shift);
			break;
		}
	}
	return value;
}

/* NUL-terminated within the bytes; NULL = it is not. */
static const char *text_at(struct bytes in, uint64_t at)
{
	size_t left;

	if (at >= (uint64_t)(in.end - in.at))
		return NULL;
	left = in.end - in.at - at;
	return memchr(in.at + at, '\0', left < LONGEST_TEXT ? left : LONGEST_TEXT)
		       ? (const char *)in.at + at
		       : NULL;
}

static const char *text(struct bytes *from)
{
	const char *found = text_at(*from, 0);

	from->at = found ? from->at + strlen(found) + 1 : from->end;
	return found;
}

/* ---- the file ---- */

static struct bytes part(const struct pc_lines *lines, uint64_t at, uint64_t size)
{
	struct bytes none = {lines->image, lines->image};

	if (at > lines->size || size > lines->size - at)
		return none;
	return (struct bytes){lines->image + at, lines->image + at + size};
}

static bool find_sections(struct pc_lines *lines)
{
	Elf64_Ehdr header;
	Elf64_Shdr section, names, linked;

	if (lines->size < sizeof(header))
		return false;
	memcpy(&header, lines->image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_shentsize != sizeof(section) || header.e_shoff > lines->size ||
	    (lines->size - header.e_shoff) / sizeof(section) < header.e_shnum ||
	    header.e_shstrndx >= header.e_shnum)
		return false;
#define SECTION(to, i) \
	memcpy(&(to), lines->image + header.e_shoff + (uint64_t)(i) * sizeof(to), sizeof(to))
	SECTION(names, header.e_shstrndx);
	for (unsigned int i = 0; i < header.e_shnum; i++) {
		struct bytes content;
		const char *name;

		SECTION(section, i);
		name = text_at(part(lines, names.sh_offset, names.sh_size), section.sh_name);
		content = part(lines, section.sh_offset, section.sh_size);
		if (section.sh_type == SHT_SYMTAB && section.sh_link < header.e_shnum) {
			SECTION(linked, section.sh_link);
			lines->symbols = content;
			lines->names = part(lines, linked.sh_offset, linked.sh_size);
		} else if (name && !strcmp(name, ".debug_line")) {
			lines->line = content;
		} else if (name && !strcmp(name, ".debug_str")) {
			lines->text = content;
		} else if (name && !strcmp(name, ".rela.debug_line")) {
			lines->relocations = content;
		}
	}
#undef SECTION
	return lines->line.at < lines->line.end && lines->symbols.at < lines->symbols.end;
}

/* False: there have been too many. */
static bool may_look(struct pc_lines *lines, uint32_t looks)
{
	if (lines->looks > MAX_LOOKS - looks)
		return false;
	lines->looks += looks;
	return true;
}

static const char *symbol_name(struct pc_lines *lines, uint64_t index)
{
	Elf64_Sym symbol;

	if (index >= (lines->symbols.end - lines->symbols.at) / sizeof(symbol) ||
	    !may_look(lines, TEXT_LOOKS))
		return NULL;
	memcpy(&symbol, lines->symbols.at + index * sizeof(symbol), sizeof(symbol));
	return text_at(lines->names, symbol.st_name);
}

/* Whose address is relocated at that place of .debug_line; NULL = nobody's. In order, most often.
 */
static const char *function_at(struct pc_lines *lines, uint64_t place)
{
	uint64_t count = (lines->relocations.end - lines->relocations.at) / sizeof(Elf64_Rela);

	for (uint64_t i = 0; i < count && may_look(lines, 1); i++) {
		uint64_t at = (lines->relocation + i) % count;
		Elf64_Rela relocation;

		memcpy(&relocation, lines->relocations.at + at * sizeof(relocation),
		       sizeof(relocation));
		if (relocation.r_offset != place)
			continue;
		lines->relocation = at + 1;
		return symbol_name(lines, ELF64_R_SYM(relocation.r_info));
	}
	return NULL;
}

/* ---- the program that makes the rows ---- */

struct unit {
	uint32_t first_file; /* of its own, in lines->files */
	uint32_t file_count;
	uint8_t minimum, opcode_base, line_range;
	int8_t line_base;
	uint8_t lengths[MAX_OPCODES];
};

static bool begin_sequence(struct pc_lines *lines, const char *function)
{
	if (lines->sequence_count >= MAX_ROWS ||
	    !array_grow__for_one(lines->sequences, lines->sequence_capacity, lines->sequence_count))
		return false;
	lines->sequences[lines->sequence_count++] =
		(struct sequence){.function = function, .first = lines->row_count};
	return true;
}

/* False: that is enough. */
static bool put_row(struct pc_lines *lines, const struct unit *unit, const struct row *state)
{
	struct row row = *state;

	if (!lines->sequence_count && !begin_sequence(lines, NULL))
		return false;
	if (lines->row_count >= MAX_ROWS ||
	    !array_grow__for_one(lines->rows, lines->row_capacity, lines->row_count))
		return false;
	row.file = row.file && row.file <= unit->file_count ? unit->first_file + row.file : 0;
	lines->rows[lines->row_count++] = row;
	lines->sequences[lines->sequence_count - 1].count++;
	return true;
}

static bool run_extended(struct pc_lines *lines, const struct unit *unit, struct bytes *program,
			 struct row *row)
{
	uint64_t length = uleb(program);
	struct bytes operands = *program;
	uint8_t opcode;

	if (!length || length > (uint64_t)(program->end - program->at))
		return false;
	program->at += length;
	operands.end = program->at;
	opcode = number(&operands, 1);
	if (opcode == 1) { /* the end of a sequence */
		row->is_end = true;
		if (!put_row(lines, unit, row))
			return false;
		*row = (struct row){.file = 1, .line = 1};
	} else if (opcode == 2) {
		const char *function = function_at(lines, operands.at - lines->line.at);

		row->address = number(&operands, 8);
		return !function || begin_sequence(lines, function);
	} else if (opcode == INLINED_CALL) {
		row->context = uleb(&operands);
		row->name = uleb(&operands);
	}
	return true;
}

static bool run_standard(struct pc_lines *lines, const struct unit *unit, struct bytes *program,
			 struct row *row, uint8_t opcode)
{
	switch (opcode) {
	case 1:
		return put_row(lines, unit, row);
	case 2:
		row->address += uleb(program) * unit->minimum;
		break;
	case 3:
		row->line += (uint32_t)sleb(program); /* modulo 2^32, whatever a file has */
		break;
	case 4:
		row->file = uleb(program);
		break;
	case 8:
		row->address +=
			(uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->minimum;
		break;
	case 9:
		row->address += number(program, 2);
		break;
	default:
		for (int i = 0; i < unit->lengths[opcode % MAX_OPCODES]; i++)
			uleb(program);
	}
	return true;
}

static void run(struct pc_lines *lines, const struct unit *unit, struct bytes program)
{
	struct row row = {.file = 1, .line = 1};

	while (program.at < program.end) {
		uint8_t opcode = number(&program, 1);

		if (opcode >= unit->opcode_base) {
			opcode -= unit->opcode_base;
			row.address += (uint64_t)(opcode / unit->line_range) * unit->minimum;
			row.line += unit->line_base + opcode % unit->line_range;
			if (!put_row(lines, unit, &row))
				return;
		} else if (!(opcode ? run_standard(lines, unit, &program, &row, opcode)
				    : run_extended(lines, unit, &program, &row))) {
			return;
		}
	}
}

/* Folders, then files; of these the names. */
static void read_files(struct pc_lines *lines, struct unit *unit, struct bytes header)
{
	const char *folders[MAX_FOLDERS], *name;
	uint32_t folder_count = 0;
	uint64_t folder;

	for (name = text(&header); name && *name; name = text(&header))
		if (folder_count < MAX_FOLDERS)
			folders[folder_count++] = name;
	unit->first_file = lines->file_count;
	for (name = text(&header); name && *name; name = text(&header)) {
		folder = uleb(&header);
		uleb(&header);
		uleb(&header);
		if (lines->file_count >= MAX_FILES ||
		    !array_grow__for_one(lines->files, lines->file_capacity, lines->file_count))
			return;
		lines->files[lines->file_count++] = (struct file){
			.path = name,
			.folder = folder && folder <= folder_count ? folders[folder - 1] : "",
		};
		unit->file_count++;
	}
}

static void read_unit(struct pc_lines *lines, struct bytes all)
{
	uint16_t version = number(&all, 2);
	uint32_t length = number(&all, 4);
	struct bytes header = all;
	struct unit unit = {0};

	if (version < 2 || version > 4 || length > (uint64_t)(all.end - all.at))
		return;
	header.end = header.at + length;
	unit.minimum = number(&header, 1);
	if (version >= 4)
		number(&header, 1);
	number(&header, 1);
	unit.line_base = number(&header, 1);
	unit.line_range = number(&header, 1);
	unit.opcode_base = number(&header, 1);
	if (!unit.line_range || !unit.opcode_base || unit.opcode_base > MAX_OPCODES)
		return;
	for (int i = 1; i < unit.opcode_base; i++)
		unit.lengths[i] = number(&header, 1);
	read_files(lines, &unit, header);
	all.at += length;
	run(lines, &unit, all);
}

struct pc_lines *pc_lines__open(const uint8_t *image, size_t size)
{
	struct pc_lines *lines = calloc(1, sizeof(*lines));
	struct bytes left;

	if (!lines)
		return NULL;
	lines->image = image;
	lines->size = size;
	if (!find_sections(lines)) {
		pc_lines__free(lines);
		return NULL;
	}
	left = lines->line;
	while (left.end - left.at > 4) {
		uint64_t length = number(&left, 4);
		struct bytes unit = left;

		if (length > (uint64_t)(left.end - left.at))
			break;
		left.at += length;
		unit.end = left.at;
		read_unit(lines, unit);
	}
	return lines;
}

void pc_lines__free(struct pc_lines *lines)
{
	if (!lines)
		return;
	free(lines->rows);
	free(lines->sequences);
	free(lines->files);
	free(lines);
}

/* The last row at or before the offset, within the sequence, from 1; 0 = none. Addresses rise. */
static uint32_t row_of(const struct pc_lines *lines, const struct sequence *sequence,
		       uint64_t offset)
{
	const struct row *rows;
	uint32_t low;

	if (!sequence->count)
		return 0;
	rows = &lines->rows[sequence->first];
	low = sorted__count_before(sequence->count, i, rows[i].address <= offset);
	return low && !rows[low - 1].is_end ? low : 0;
}

/* Instructions are looked up by function. */
static const struct sequence *sequence_of(struct pc_lines *lines, const char *function)
{
	if (lines->last && !strcmp(lines->last->function, function))
		return lines->last;
	for (uint32_t i = 0; i < lines->sequence_count && may_look(lines, 1); i++) {
		const struct sequence *sequence = &lines->sequences[i];

		if (sequence->function && !strcmp(sequence->function, function))
			return lines->last = sequence;
	}
	return NULL;
}

static struct pc_line line_of(const struct pc_lines *lines, const struct row *row)
{
	struct file file = row->file ? lines->files[row->file - 1] : (struct file){"?", ""};
	const char *slash = strrchr(file.path, '/');

	return (struct pc_line){
		.file = slash ? slash + 1 : file.path,
		.path = file.path,
		.folder = file.folder,
		.function = row->context ? text_at(lines->text, row->name) : NULL,
		.line = row->line,
	};
}

size_t pc_lines__at(struct pc_lines *lines, const char *function, uint64_t offset,
		    struct pc_line chain[PC_LINES_DEEPEST])
{
	const struct sequence *sequence = sequence_of(lines, function);
	size_t depth = 0;

	for (uint32_t at = sequence ? row_of(lines, sequence, offset) : 0;
	     at && depth < PC_LINES_DEEPEST;) {
		const struct row *row = &lines->rows[sequence->first + at - 1];

		chain[depth++] = line_of(lines, row);
		at = row->context < at ? row->context : 0;
	}
	return depth;
}
