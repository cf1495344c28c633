// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code objects as eBPF found them. CPython's tables of lines have three forms (in its sources:
 * Objects/locations.md, and before 3.11 Objects/lnotab_notes.txt, which 3.10 has in a version of
 * its own). They come from the process, so every step is bounded.
 */
#include "cuda-trace/symbols/python_code.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/intern.h"

#define MAX_CODES 65536
#define KEY_BYTES 64 /* what keeping a key takes */

struct python_code {
	char *file, *name;
	uint32_t version;
	int32_t first_line;
	uint32_t table_bytes;
	uint8_t *table;
};

struct code_key {
	uint64_t code, key;
};

struct python_codes {
	struct interned *keys;
	struct python_code *list; /* by number of the key - 1 */
	uint32_t count, capacity;
	size_t bytes, *left;
};

struct python_codes *python_codes__new(size_t *left)
{
	struct python_codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return NULL;
	codes->left = left;
	codes->keys = intern__new(MAX_CODES, MAX_CODES * KEY_BYTES);
	if (codes->keys)
		return codes;
	free(codes);
	return NULL;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		*to++ = c;
	} else if (c < 0x800) {
		*to++ = 0xc0 | c >> 6;
		*to++ = 0x80 | (c & 0x3f);
	} else if (c < 0x10000) {
		*to++ = 0xe0 | c >> 12;
		*to++ = 0x80 | (c >> 6 & 0x3f);
		*to++ = 0x80 | (c & 0x3f);
	} else {
		*to++ = 0xf0 | c >> 18;
		*to++ = 0x80 | (c >> 12 & 0x3f);
		*to++ = 0x80 | (c >> 6 & 0x3f);
		*to++ = 0x80 | (c & 0x3f);
	}
	return to;
}

/* One byte becomes two at most, two become three, four stay four. */
static size_t text_capacity(uint32_t bytes)
{
	return (size_t)bytes * 2 + 1;
}

static char *text_of(const uint8_t *data, uint32_t bytes, uint32_t width)
{
	char *text = malloc(text_capacity(bytes)), *to = text;

	if (!text || (width != 1 && width != 2 && width != 4))
		bytes = 0;
	for (uint32_t at = 0; at + width <= bytes && bytes; at += width) {
		uint32_t c = 0;

		memcpy(&c, data + at, width);
		to = put_utf8(to, c);
	}
	if (text)
		*to = 0;
	return text;
}

void python_codes__add(struct python_codes *codes, const struct event_code *event)
{
	size_t bytes = text_capacity(event->file_bytes) + text_capacity(event->name_bytes) +
		       event->table_bytes + KEY_BYTES + sizeof(struct python_code);
	struct code_key key = {event->code, event->key};
	struct python_code *code;

	if (intern__find(codes->keys, &key, sizeof(key)) || bytes > *codes->left ||
	    /* A key without its place in the list would give all later ones others' names. */
	    !array_grow__for_one(codes->list, codes->capacity, codes->count) ||
	    !intern__number(codes->keys, &key, sizeof(key), NULL))
		return;
	codes->bytes += bytes;
	*codes->left -= bytes;
	code = &codes->list[codes->count++];
	code->file = text_of(event->file, event->file_bytes, event->file_width);
	code->name = text_of(event->name, event->name_bytes, event->name_width);
	code->version = event->version;
	code->first_line = event->first_line;
	code->table_bytes = event->table_bytes;
	code->table = malloc(event->table_bytes + 1);
	if (code->table)
		memcpy(code->table, event->table, event->table_bytes);
	else
		code->table_bytes = 0;
}

const struct python_code *python_codes__find(const struct python_codes *codes, uint64_t code,
					     uint64_t key)
{
	struct code_key wanted = {code, key};
	uint32_t number = intern__find(codes->keys, &wanted, sizeof(wanted));

	return number && number <= codes->count ? &codes->list[number - 1] : NULL;
}

const char *python_code__file(const struct python_code *code)
{
	return code->file ? code->file : "";
}

const char *python_code__name(const struct python_code *code)
{
	return code->name ? code->name : "";
}

struct reader {
	const uint8_t *at, *end;
};

static uint32_t read_number(struct reader *reader)
{
	uint32_t number = 0, shift = 0;

	while (reader->at < reader->end) {
		uint8_t byte = *reader->at++;

		if (shift < 30)
			number |= (uint32_t)(byte & 0x3f) << shift;
		shift += 6;
		if (!(byte & 0x40))
			break;
	}
	return number;
}

static int32_t read_signed(struct reader *reader)
{
	uint32_t number = read_number(reader);

	return number & 1 ? -(int32_t)(number >> 1) : (int32_t)(number >> 1);
}

enum { FORM_ONE_LINE_0 = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

/* By how many lines this entry is behind the one before. The columns, too, lie in between. */
static int32_t read_line_delta(struct reader *reader, unsigned int form)
{
	int32_t delta = 0;

	if (form >= FORM_NO_COLUMNS && form != FORM_NONE)
		delta = read_signed(reader);
	else if (form >= FORM_ONE_LINE_0 && form < FORM_NO_COLUMNS)
		delta = form - FORM_ONE_LINE_0;
	return delta;
}

/* 3.8 and 3.9: pairs of bytes and lines, each how much further. */
static int32_t line_before_3_10(const struct python_code *code, uint32_t wanted)
{
	uint32_t line = code->first_line, address = 0;

	for (uint32_t i = 0; i + 2 <= code->table_bytes; i += 2) {
		address += code->table[i];
		if (address > wanted)
			break;
		line += (int8_t)code->table[i + 1];
	}
	return line;
}

#define NO_LINE (-128)

/* 3.10: pairs of the length of a range and the lines that it is behind the one before. */
static int32_t line_of_3_10(const struct python_code *code, uint32_t wanted)
{
	uint32_t line = code->first_line, end = 0;

	for (uint32_t i = 0; i + 2 <= code->table_bytes; i += 2) {
		int8_t delta = code->table[i + 1];

		end += code->table[i];
		if (delta != NO_LINE)
			line += delta;
		if (wanted < end)
			return delta == NO_LINE ? 0 : (int32_t)line;
	}
	return 0;
}

static int32_t line_since_3_11(const struct python_code *code, uint32_t wanted)
{
	struct reader reader = {code->table, code->table + code->table_bytes};
	uint32_t line = code->first_line, unit = 0;

	while (reader.at < reader.end) {
		uint8_t first = *reader.at++;
		unsigned int form = first >> 3 & 15;

		line += read_line_delta(&reader, form);
		unit += (first & 7) + 1;
		if (unit > wanted / 2)
			return form == FORM_NONE ? 0 : (int32_t)line;
		/* Each entry's first byte, and it alone, has the highest bit. */
		while (reader.at < reader.end && !(*reader.at & 0x80))
			reader.at++;
	}
	return 0;
}

int32_t python_code__line(const struct python_code *code, int32_t instruction)
{
	if (instruction < 0)
		return code->first_line;
	if (code->version < 0x030a0000)
		return line_before_3_10(code, instruction);
	if (code->version < 0x030b0000)
		return line_of_3_10(code, instruction);
	return line_since_3_11(code, instruction);
}

void python_codes__free(struct python_codes *codes)
{
	if (!codes)
		return;
	for (uint32_t i = 0; i < codes->count; i++) {
		free(codes->list[i].file);
		free(codes->list[i].name);
		free(codes->list[i].table);
	}
	*codes->left += codes->bytes;
	free(codes->list);
	intern__free(codes->keys);
	free(codes);
}
