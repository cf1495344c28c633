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
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/line_table.h"
#include "cuda-trace/symbols/wanted_addresses.h"

struct reader {
	const struct wanted_addresses *wanted;
	bool *found; /* of the addresses */
	struct foreign_output *output;
	struct line_sections sections;
};

struct row {
	uint64_t address, file;
	int64_t line;
};

/* ---- in a process without privileges ---- */

static void put_lines(struct reader *reader, const struct line_table *table, const struct row *row,
		      uint64_t end)
{
	char path[LINE_PATH] = "";

	for (size_t i = wanted_addresses__first(reader->wanted, row->address);
	     i < reader->wanted->count && reader->wanted->list[i] < end; i++) {
		struct debug_line sent = {.address = reader->wanted->list[i],
					  .line = (uint32_t)row->line};

		if (reader->found[i] || row->line <= 0 || row->line > UINT32_MAX)
			continue;
		if (!*path)
			line_table__path(table, row->file, path);
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

static void emit(struct reader *reader, const struct line_table *table, struct machine *machine,
		 bool end)
{
	if (machine->any && machine->now.address > machine->last.address)
		put_lines(reader, table, &machine->last, machine->now.address);
	machine->last = machine->now;
	machine->any = !end;
}

static bool run_extended(struct reader *reader, const struct line_table *table,
			 struct dwarf_cursor *program, struct machine *machine)
{
	struct dwarf_cursor operands;
	uint64_t length, address;

	if (!dwarf_cursor__unsigned(program, &length) || !length ||
	    length > (uint64_t)(program->end - program->at))
		return false;
	operands = (struct dwarf_cursor){.at = program->at, .end = program->at + length};
	program->at += length;
	switch (dwarf_cursor__byte(&operands)) {
	case 1:
		emit(reader, table, machine, true);
		machine->now = (struct row){.file = 1, .line = 1};
		break;
	case 2:
		if (!dwarf_cursor__fixed(&operands, 8, &address))
			return false;
		machine->now.address = address;
		break;
	}
	return true;
}

static bool run_standard(struct reader *reader, const struct line_table *table,
			 struct dwarf_cursor *program, struct machine *machine, uint8_t opcode)
{
	uint64_t value = 0;
	int64_t step = 0;
	bool sound = true;

	switch (opcode) {
	case 1:
		emit(reader, table, machine, false);
		break;
	case 2:
		sound = dwarf_cursor__unsigned(program, &value);
		machine->now.address += value * table->minimum;
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
			(uint64_t)((255 - table->opcode_base) / table->line_range) * table->minimum;
		break;
	case 9:
		sound = dwarf_cursor__fixed(program, 2, &value);
		machine->now.address += value;
		break;
	default:
		for (int i = 0; sound && i < table->lengths[opcode]; i++)
			sound = dwarf_cursor__unsigned(program, &value);
	}
	return sound;
}

static void run(struct reader *reader, const struct line_table *table)
{
	struct dwarf_cursor program = table->program;
	struct machine machine = {.now = {.file = 1, .line = 1}};

	while (program.at < program.end) {
		uint8_t opcode = dwarf_cursor__byte(&program);

		if (opcode >= table->opcode_base) {
			opcode -= table->opcode_base;
			machine.now.address +=
				(uint64_t)(opcode / table->line_range) * table->minimum;
			machine.now.line =
				(int64_t)((uint64_t)machine.now.line +
					  (uint64_t)(int64_t)(table->line_base +
							      opcode % table->line_range));
			emit(reader, table, &machine, false);
		} else if (!(opcode ? run_standard(reader, table, &program, &machine, opcode)
				    : run_extended(reader, table, &program, &machine))) {
			return;
		}
	}
}

static void read_tables(struct reader *reader)
{
	uint64_t at = 0, next;

	for (; at < reader->sections.line.size; at = next) {
		struct line_table table;

		if (line_table__read(&table, &reader->sections, at, &next))
			run(reader, &table);
		line_table__free(&table);
	}
}

int debug_lines__send(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	struct reader reader = {.wanted = argument, .output = output};
	struct line_sections *sections = &reader.sections;
	const struct dwarf_section_wish wishes[] = {
		{".debug_line", &sections->line},
		{".debug_line_str", &sections->line_text},
		{".debug_str", &sections->text},
	};
	struct foreign_elf elf;
	int err = foreign_elf__open(&elf, fd, size, true);

	if (err)
		return err;
	reader.found = calloc(reader.wanted->count + 1, sizeof(*reader.found));
	err = reader.found ? dwarf_sections__load(&elf, wishes, sizeof(wishes) / sizeof(wishes[0]))
			   : -ENOMEM;
	if (!err)
		read_tables(&reader);
	free(sections->line.bytes);
	free(sections->line_text.bytes);
	free(sections->text.bytes);
	free(reader.found);
	foreign_elf__close(&elf);
	return err;
}
