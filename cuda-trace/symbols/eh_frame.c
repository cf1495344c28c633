// SPDX-License-Identifier: BSD-2-Clause
/*
 * .eh_frame_hdr lists the functions by address; each has a frame description entry (FDE), whose
 * instructions say how the rule changes from one address to the next, and a common information
 * entry (CIE) that many share. See the Linux Standard Base, "Exception Frames". All numbers come
 * from the file: each read is checked, and the rows are limited.
 */
#include "cuda-trace/symbols/eh_frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/cfa_program.h"

#define WINDOW	       65536 /* bytes; longer entries are not read */
#define FUNCTIONS_ALL  8192  /* a file with more of them is read in parts */
#define FUNCTIONS_PART 128   /* that a part has: a stack needs few of a million */
#define FUNCTIONS_BACK 32    /* a part begins so many before the one that is wanted */

#define ENCODED_TABLE  0x3b /* signed 4 bytes, relative to .eh_frame_hdr: what all linkers write */
#define ENCODED_COUNT  0x03 /* unsigned 4 bytes */

/* A part of the file, at its address when it is loaded. */
struct window {
	uint64_t address;
	size_t size;
	uint8_t bytes[WINDOW];
};

struct tables {
	struct foreign_elf elf;
	uint64_t header; /* address of .eh_frame_hdr */
	uint64_t list;	 /* address of its table */
	uint32_t count;	 /* functions in it */
	struct window listed, described, common;
	struct unwind_row *rows;
	uint32_t row_count;
	uint64_t first;
};

/* `size` bytes at an address; NULL = the file does not have them. */
static const uint8_t *bytes_at(struct tables *tables, struct window *window, uint64_t address,
			       size_t size)
{
	uint64_t within = address - window->address, offset, left;

	if (size > WINDOW)
		return NULL;
	if (within < window->size && size <= window->size - within)
		return window->bytes + within;
	offset = foreign_elf__offset(&tables->elf, address, 0);
	if (!offset || offset >= tables->elf.size)
		return NULL;
	left = tables->elf.size - offset;
	window->size = left < WINDOW ? left : WINDOW;
	window->address = address;
	if (size > window->size ||
	    foreign_elf__read(&tables->elf, offset, window->bytes, window->size)) {
		window->size = 0;
		return NULL;
	}
	return window->bytes;
}

/* One of the list's functions: its address, and that of its entry. */
static bool read_function(struct tables *tables, uint32_t i, uint64_t *address, uint64_t *entry)
{
	const uint8_t *bytes = bytes_at(tables, &tables->listed, tables->list + 8ull * i, 8);
	int32_t pair[2];

	if (!bytes)
		return false;
	memcpy(pair, bytes, sizeof(pair));
	*address = tables->header + (int64_t)pair[0];
	*entry = tables->header + (int64_t)pair[1];
	return true;
}

static int find_list(struct tables *tables)
{
	struct dwarf_cursor cursor;
	const uint8_t *bytes;
	uint64_t unused;

	for (uint32_t i = 0; i < tables->elf.segment_count; i++)
		if (tables->elf.segments[i].p_type == PT_GNU_EH_FRAME)
			tables->header = tables->elf.segments[i].p_vaddr;
	bytes = tables->header ? bytes_at(tables, &tables->listed, tables->header, 20) : NULL;
	if (!bytes)
		return -ENOENT;
	cursor = (struct dwarf_cursor){bytes, bytes + 20, tables->header + 20};
	if (bytes[0] != 1 || bytes[2] != ENCODED_COUNT || bytes[3] != ENCODED_TABLE)
		return -ENOENT;
	cursor.at += 4;
	if (!dwarf_cursor__pointer(&cursor, bytes[1], tables->header, &unused) ||
	    cursor.end - cursor.at < 4)
		return -ENOENT;
	memcpy(&tables->count, cursor.at, sizeof(tables->count));
	tables->list = tables->header + (cursor.at + 4 - bytes);
	return tables->count ? 0 : -ENOENT;
}

static bool is_same(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->cfa_offset == b->cfa_offset && a->rule == b->rule && a->base == b->base &&
	       a->return_offset == b->return_offset &&
	       !memcmp(a->saved, b->saved, sizeof(a->saved));
}

/* False: there are as many as are sent, or they are too far apart. */
static bool add_row(void *context, const struct unwind_row *rule, uint64_t address)
{
	struct tables *tables = context;
	struct unwind_row *last = tables->row_count ? &tables->rows[tables->row_count - 1] : NULL;
	uint64_t start = address - tables->first;

	if (address < tables->first || start > UINT32_MAX)
		return false;
	if (last && is_same(last, rule))
		return true;
	/* Of rules for nothing, and of a function that goes on into the next one, the last counts.
	 */
	if (!last || last->start != start) {
		if (tables->row_count == UNWIND_ROWS_MAX)
			return false;
		last = &tables->rows[tables->row_count++];
	}
	*last = *rule;
	last->start = start;
	return true;
}

/* ---- entries ---- */

/* The entry behind its length and, at *id, what says of which kind it is. */
static bool open_entry(struct tables *tables, struct window *window, uint64_t address,
		       struct dwarf_cursor *cursor, uint32_t *id)
{
	const uint8_t *bytes = bytes_at(tables, window, address, 8);
	uint32_t length;

	if (!bytes)
		return false;
	memcpy(&length, bytes, sizeof(length));
	if (length < 4 || length > WINDOW - 4)
		return false;
	bytes = bytes_at(tables, window, address, length + 4);
	if (!bytes)
		return false;
	memcpy(id, bytes + 4, sizeof(*id));
	*cursor = (struct dwarf_cursor){bytes + 8, bytes + 4 + length, address + 4 + length};
	return true;
}

static bool read_augmentation(struct cfa_program *program, struct dwarf_cursor *cursor,
			      const char *letters)
{
	const uint8_t *end;
	uint64_t size, unused;

	program->encoding = 0;
	if (!*letters)
		return true;
	if (*letters++ != 'z' || !dwarf_cursor__unsigned(cursor, &size) ||
	    size > (size_t)(cursor->end - cursor->at))
		return false;
	program->augmented = true;
	end = cursor->at + size;
	for (; *letters; letters++) {
		uint8_t encoding = 0;

		if (*letters == 'R' || *letters == 'L' || *letters == 'P') {
			if (cursor->at >= end)
				return false;
			encoding = *cursor->at++;
		}
		if (*letters == 'R')
			program->encoding = encoding;
		else if (*letters == 'P' && !dwarf_cursor__pointer(cursor, encoding, 0, &unused))
			return false;
		else if (*letters == 'S')
			program->is_signal = true;
		else if (!strchr("RLPS", *letters))
			return false;
	}
	cursor->at = end;
	return true;
}

static bool read_common(struct tables *tables, struct cfa_program *program, uint64_t address)
{
	struct dwarf_cursor cursor;
	const char *letters;
	uint64_t number;
	uint8_t version;
	uint32_t id;

	if (!open_entry(tables, &tables->common, address, &cursor, &id) || id ||
	    cursor.at == cursor.end)
		return false;
	version = *cursor.at++;
	letters = (const char *)cursor.at;
	cursor.at += strnlen(letters, cursor.end - cursor.at) + 1;
	if ((version != 1 && version != 3) || cursor.at >= cursor.end ||
	    !dwarf_cursor__unsigned(&cursor, &program->code_alignment) ||
	    !dwarf_cursor__signed(&cursor, &program->data_alignment) || cursor.at == cursor.end ||
	    program->code_alignment > 16 || program->data_alignment < -16 ||
	    program->data_alignment > 16)
		return false;
	number = *cursor.at;
	if (version == 1)
		cursor.at++;
	else if (!dwarf_cursor__unsigned(&cursor, &number))
		return false;
	if (number != CFA_RETURN_ADDRESS || !read_augmentation(program, &cursor, letters))
		return false;
	return cfa_program__run(program, &cursor);
}

/* The rules of one function. False: no more rows fit. */
static bool read_rules(struct tables *tables, uint64_t address, uint64_t entry)
{
	static const struct unwind_row none = {.rule = UNWIND_NONE};
	struct dwarf_cursor cursor;
	struct cfa_program program;
	uint64_t start, length, size;
	uint32_t id;

	cfa_program__begin(&program);
	if (!open_entry(tables, &tables->described, entry, &cursor, &id) || !id ||
	    !read_common(tables, &program, entry + 4 - id) ||
	    !dwarf_cursor__pointer(&cursor, program.encoding, tables->header, &start) ||
	    !dwarf_cursor__pointer(&cursor, program.encoding & 0x0f, 0, &length) ||
	    start != address || start + length < start)
		return add_row(tables, &none, address);
	if (program.augmented) {
		if (!dwarf_cursor__unsigned(&cursor, &size) ||
		    size > (size_t)(cursor.end - cursor.at))
			return add_row(tables, &none, address);
		cursor.at += size;
	}
	program.address = start;
	program.end = start + length;
	program.initial = program.state;
	program.depth = 0;
	program.put = add_row;
	program.context = tables;
	if (!cfa_program__run(&program, &cursor)) {
		if (tables->row_count == UNWIND_ROWS_MAX)
			return false;
		return add_row(tables, &none, program.address);
	}
	return cfa_program__put(&program) && add_row(tables, &none, program.end);
}

/* The last function that does not begin behind `wanted`. */
static bool find_function(struct tables *tables, uint64_t wanted, uint32_t *index)
{
	uint32_t low = 0, high = tables->count;
	uint64_t address, entry;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!read_function(tables, middle, &address, &entry))
			return false;
		if (address <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	*index = low ? low - 1 : 0;
	return true;
}

/* Reads functions from `from` on; *end = where the first one begins that was not. */
static int read_functions(struct tables *tables, uint32_t from, uint64_t *end, uint32_t *next)
{
	uint32_t most = tables->count <= FUNCTIONS_ALL ? FUNCTIONS_ALL : FUNCTIONS_PART;
	uint64_t address, entry, before = 0;
	uint32_t i;

	tables->row_count = 0;
	for (i = from; i < tables->count && i - from < most; i++) {
		if (!read_function(tables, i, &address, &entry))
			return -EIO;
		if (i == from)
			tables->first = address;
		/* A list that is not in order. */
		if (address < before)
			return -ENOEXEC;
		before = address;
		/* What a function claims beyond the next one's beginning is not its own. */
		while (tables->row_count &&
		       tables->first + tables->rows[tables->row_count - 1].start > address)
			tables->row_count--;
		if (!read_rules(tables, address, entry))
			break;
	}
	*next = i;
	*end = UINT64_MAX;
	if (i < tables->count && !read_function(tables, i, end, &entry))
		return -EIO;
	return 0;
}

static int send_part(struct tables *tables, uint64_t wanted, struct foreign_output *output,
		     struct unwind_range *sent)
{
	struct unwind_range range = {0};
	uint32_t index, from, next;
	int err;

	if (!find_function(tables, wanted, &index))
		return -EIO;
	from = tables->count <= FUNCTIONS_ALL || index < FUNCTIONS_BACK ? 0
									: index - FUNCTIONS_BACK;
	err = read_functions(tables, from, &range.end, &next);
	if (!err && next <= index) {
		from = index;
		err = read_functions(tables, from, &range.end, &next);
	}
	if (err)
		return err;
	range.start = from ? tables->first : 0;
	range.first = tables->first;
	range.rows = tables->row_count;
	if (!foreign_output__fits(output, sizeof(range) + range.rows * sizeof(*tables->rows)))
		return -EFBIG;
	*sent = range;
	foreign_output__put(output, &range, sizeof(range));
	foreign_output__put(output, tables->rows, range.rows * sizeof(*tables->rows));
	return 0;
}

static bool is_sent(const struct unwind_range *sent, uint32_t count, uint64_t address)
{
	for (uint32_t i = 0; i < count; i++)
		if (address >= sent[i].start && address < sent[i].end)
			return true;
	return false;
}

/* Of what is only likely to be needed, none must be there. */
static int send_parts(struct tables *tables, const struct unwind_wanted *wanted,
		      struct foreign_output *output)
{
	struct unwind_range sent[UNWIND_WANTED];
	uint32_t count = 0;
	int err = find_list(tables);

	for (uint32_t i = 0; i < wanted->count && i < UNWIND_WANTED && !err; i++) {
		if (is_sent(sent, count, wanted->addresses[i]))
			continue;
		err = send_part(tables, wanted->addresses[i], output, &sent[count]);
		count += !err;
	}
	return count ? 0 : err;
}

int eh_frame__send_all(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	int err;

	if (!tables)
		return -ENOMEM;
	tables->rows = calloc(UNWIND_ROWS_MAX, sizeof(*tables->rows));
	err = tables->rows ? foreign_elf__open(&tables->elf, fd, size, false) : -ENOMEM;
	if (!err) {
		err = tables->elf.header.e_machine == EM_X86_64
			      ? send_parts(tables, argument, output)
			      : -ENOENT;
		foreign_elf__close(&tables->elf);
	}
	free(tables->rows);
	free(tables);
	return err;
}

int eh_frame__send(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	struct unwind_wanted wanted = {.count = 1};

	memcpy(wanted.addresses, argument, sizeof(wanted.addresses[0]));
	return eh_frame__send_all(fd, size, &wanted, output);
}
