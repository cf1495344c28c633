// SPDX-License-Identifier: BSD-2-Clause
/*
 * The grammar, of which each part ends where it says:
 *   STRUCTURE  {NAME;ENTRY...}SIZE    ENTRY  OFFSET TYPE[*COUNT] NAME;
 *   TYPE       STRUCTURE, eSIZE{VALUE=NAME;...} (VALUE|NAME; is a bit), or a letter and its size:
 *              i u signed and unsigned, f float, b bfloat16, c character, w wide character, x bits,
 *              s a text: its offset in the payload and length, ? not known
 * NAME has %XX for ; { } = % and control characters: braces always are pairs.
 *
 * Failure modes: 1. the description or the payload is not what the library sends: both are read
 * with limits, and depth, elements and length of the output have some, too. 2. arrays of arrays
 * multiply: elements are counted for the payload as a whole.
 */
#include "cuda-trace/base/payload_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/number_text.h"
#include "cuda-trace/base/text.h"

#define DEPTH	 8
#define ELEMENTS 1024
#define NAME	 256
#define LIMIT	 (1U << 20) /* of offsets and counts */

struct reader {
	const char *at;
	const uint8_t *data;
	size_t size;
	unsigned int elements; /* that were written */
	int depth;
	FILE *out;
};

static void put_type(struct reader *reader, size_t offset);

static bool accept(struct reader *reader, char c)
{
	if (*reader->at != c)
		return false;
	reader->at++;
	return true;
}

static uint64_t read_number(struct reader *reader)
{
	uint64_t value = 0;

	while (*reader->at >= '0' && *reader->at <= '9')
		value = value * 10 + (uint64_t)(*reader->at++ - '0');
	return value;
}

static size_t read_size(struct reader *reader)
{
	uint64_t value = read_number(reader);

	return value < LIMIT ? value : LIMIT;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to the ';', which is read too; what is longer is cut. */
static void read_name(struct reader *reader, char name[NAME])
{
	size_t length = 0;

	while (*reader->at && *reader->at != ';' && *reader->at != '}') {
		char c = *reader->at++;
		int high = c == '%' ? hex_digit(reader->at[0]) : -1;
		int low = high >= 0 ? hex_digit(reader->at[1]) : -1;

		if (low >= 0) {
			c = (char)(high << 4 | low);
			reader->at += 2;
		}
		if (length < NAME - 1)
			name[length++] = c;
	}
	name[length] = 0;
	accept(reader, ';');
}

static bool fetch(const struct reader *reader, size_t offset, size_t size, uint64_t *value)
{
	*value = 0;
	if (size > sizeof(*value) || offset > reader->size || reader->size - offset < size)
		return false;
	memcpy(value, reader->data + offset, size);
	return true;
}

static double half(uint16_t bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value = exponent == 31 ? (fraction ? NAN : INFINITY)
		       : exponent     ? ldexp(1024 + fraction, exponent - 25)
				      : ldexp(fraction, -24);

	return bits >> 15 ? -value : value;
}

static void put_real(const struct reader *reader, double value)
{
	char text[NUMBER_TEXT_SIZE];

	fputs(isfinite(value) ? number__shortest(text, value) : "null", reader->out);
}

/* As short as reads back as the same one. */
static void put_single(const struct reader *reader, float value)
{
	char text[NUMBER_TEXT_SIZE];

	for (int digits = 6; digits < 9; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, (double)value);
		if (strtof(text, NULL) == value)
			break;
	}
	fputs(isfinite(value) ? text : "null", reader->out);
}

static void put_float(const struct reader *reader, char letter, size_t size, uint64_t bits)
{
	uint32_t word = letter == 'b' ? (uint32_t)bits << 16 : (uint32_t)bits;
	double real;
	float single;

	if (size == 8) {
		memcpy(&real, &bits, sizeof(real));
		put_real(reader, real);
	} else if (size == 2 && letter == 'f') {
		put_real(reader, half((uint16_t)bits));
	} else {
		memcpy(&single, &word, sizeof(single));
		put_single(reader, single);
	}
}

static void put_text(const struct reader *reader, size_t offset, size_t length)
{
	char *text;

	if (offset > reader->size || reader->size - offset < length) {
		fputs("null", reader->out);
		return;
	}
	text = strndup((const char *)reader->data + offset, length);
	if (text)
		text__write_json(reader->out, text);
	else
		fputs("null", reader->out);
	free(text);
}

static void put_bytes(const struct reader *reader, size_t offset, size_t length)
{
	fputs("\"0x", reader->out);
	for (size_t i = 0; i < length; i++)
		fprintf(reader->out, "%02x", reader->data[offset + i]);
	fputs("\"", reader->out);
}

static int64_t extended(uint64_t value, size_t size)
{
	unsigned int shift = size && size < 8 ? (unsigned int)(8 - size) * 8 : 0;

	return (int64_t)(value << shift) >> shift;
}

static void put_plain(const struct reader *reader, char letter, size_t size, size_t offset)
{
	uint64_t value;

	if (letter == '?' || !fetch(reader, offset, size, &value))
		fputs("null", reader->out);
	else if (letter == 'i')
		fprintf(reader->out, "%" PRId64, extended(value, size));
	else if (letter == 'f' || letter == 'b')
		put_float(reader, letter, size, value);
	else if (letter == 'c')
		put_text(reader, offset, 1);
	else if (letter == 'x')
		fprintf(reader->out, "\"0x%" PRIx64 "\"", value);
	else if (letter == 's' && (uint32_t)value == UINT32_MAX)
		fputs("null", reader->out);
	else if (letter == 's')
		put_text(reader, (uint32_t)value, value >> 32);
	else
		fprintf(reader->out, "%" PRIu64, value);
}

/* The name of the value, the names of its bits, or the number. */
static void put_enum(struct reader *reader, size_t size, size_t offset)
{
	uint64_t value = 0, mask = size < 8 ? (1ull << size * 8) - 1 : UINT64_MAX, left;
	bool known = fetch(reader, offset, size, &value);
	char name[NAME], found[4 * NAME] = "";

	left = value;
	while (*reader->at && !accept(reader, '}')) {
		uint64_t of = read_number(reader) & mask;
		bool bit = accept(reader, '|');

		if (!bit && !accept(reader, '=')) {
			reader->at += strlen(reader->at);
			break;
		}
		read_name(reader, name);
		if (!known || (bit ? !of || (left & of) != of : left != of || *found))
			continue;
		if (strlen(found) + strlen(name) + 2 > sizeof(found))
			continue;
		if (*found)
			strcat(found, "|");
		strcat(found, name);
		left = bit ? left & ~of : 0;
	}
	if (known && *found && !left)
		text__write_json(reader->out, found);
	else if (known)
		fprintf(reader->out, "%" PRIu64, value);
	else
		fputs("null", reader->out);
}

/* What is between here and the end of a type, with its count. */
static void skip_type(struct reader *reader)
{
	int open = 0;

	for (; *reader->at && (open || *reader->at != ' '); reader->at++)
		open += (*reader->at == '{') - (*reader->at == '}');
}

static void put_entry(struct reader *reader, size_t base, unsigned int number)
{
	size_t offset = base + read_size(reader);
	char name[NAME], unnamed[16];
	const char *type, *end;

	if (!accept(reader, ' ')) {
		reader->at += strlen(reader->at);
		return;
	}
	type = reader->at;
	skip_type(reader);
	accept(reader, ' ');
	read_name(reader, name);
	end = reader->at;
	snprintf(unnamed, sizeof(unnamed), "%u", number);
	fputs(number ? ", " : "", reader->out);
	text__write_json(reader->out, *name ? name : unnamed);
	fputs(": ", reader->out);
	reader->at = type;
	put_type(reader, offset);
	reader->at = end;
}

/* Behind its brace. */
static void put_structure(struct reader *reader, size_t base)
{
	unsigned int number = 0;
	char name[NAME];

	read_name(reader, name);
	fputs("{", reader->out);
	while (*reader->at && !accept(reader, '}'))
		put_entry(reader, base, number++);
	fputs("}", reader->out);
	read_size(reader);
}

static void put_element(struct reader *reader, size_t offset)
{
	if (*reader->at == '{' && reader->depth >= DEPTH) {
		fputs("null", reader->out);
	} else if (accept(reader, '{')) {
		reader->depth++;
		put_structure(reader, offset);
		reader->depth--;
	} else if (accept(reader, 'e')) {
		size_t size = read_size(reader);

		accept(reader, '{');
		put_enum(reader, size, offset);
	} else {
		char letter = *reader->at ? *reader->at++ : '?';

		put_plain(reader, letter, read_size(reader), offset);
	}
}

/* Of `*COUNT` at the end of a type and the size of one element; false: it is no array. */
static bool read_array(struct reader *reader, size_t *count, size_t *size)
{
	const char *type = reader->at, *star, *digits;

	skip_type(reader);
	star = reader->at;
	while (star > type && star[-1] >= '0' && star[-1] <= '9')
		star--;
	if (star == type || *--star != '*')
		return false;
	reader->at = star + 1;
	*count = read_size(reader);
	for (digits = star; digits > type && digits[-1] >= '0' && digits[-1] <= '9';)
		digits--;
	reader->at = *type == 'e' ? type + 1 : digits;
	*size = read_size(reader);
	return true;
}

static void put_type(struct reader *reader, size_t offset)
{
	const char *type = reader->at;
	size_t count = 0, size = 0, left = offset < reader->size ? reader->size - offset : 0;
	bool array = read_array(reader, &count, &size);

	reader->at = type;
	if (!array) {
		put_element(reader, offset);
		return;
	}
	if (*type == 'c') {
		put_text(reader, offset, count < left ? count : left);
		return;
	}
	if (*type == 'x' && size == 1) {
		put_bytes(reader, offset, count < left ? count : left);
		return;
	}
	fputs("[", reader->out);
	for (size_t i = 0; size && i < count && i * size < left && reader->elements < ELEMENTS;
	     i++) {
		reader->elements++;
		fputs(i ? ", " : "", reader->out);
		reader->at = type;
		put_element(reader, offset + i * size);
	}
	fputs("]", reader->out);
}

void payload_json__write(FILE *file, const char *schema, const uint8_t *data, size_t size)
{
	struct reader reader = {.at = schema, .data = data, .size = size, .out = file};

	if (accept(&reader, '{'))
		put_structure(&reader, 0);
	else
		fputs("null", file);
}
